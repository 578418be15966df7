"""What Live replay shows as it is: picture, question, solution, answer and scores."""

from __future__ import annotations

from collections.abc import Sequence

from atom.display import numbers
from atom.pipeline import BY_NAME
from atom.records import Call, Replay, Sample
from atom.ui import kit, links, said, score_marks
from atom.ui.html import Html, el, join
from atom.ui.media import media_address
from atom.ui.pages import REPLAY, SETTINGS
from atom.ui.picture import RegionMark, missing, picture
from atom.ui.replay.bench import ReplayBench, Step
from atom.ui.shell.frame import Here
from atom.views.filters import Filters
from atom.views.pictures import PictureFile, read_picture
from atom.views.replay.drafts import criterion_id
from atom.views.replay.page import BenchAnswer, OwnPicture, Scorecard, ScoreLine, arriving

ONLY_PROBES = "The built-in test judge knows only test pictures"
_MOST_REASON = 4000


def heading(number: int, title: str, term: str, words: str) -> Html:
    """Write a column's title with its place in the order."""
    return el(
        "div",
        el("h2", el("span", number, class_="stepno"), kit.term(term, title), style="margin:0"),
        el("p", words, class_="quiet small"),
        class_="stephead",
    )


# --- picture and question ------------------------------------------------------------------------


def pictures(here: Here, bench: ReplayBench, own: Sequence[OwnPicture]) -> Html:
    """Draw the pictures with the regions of the criteria, or of the solution before those."""
    sample = bench.live.sample
    if not sample.pictures:
        return el("p", "This question has no picture.", class_="quiet")
    drawn, pointed = [], False
    for number, slot in enumerate(sample.pictures, start=1):
        if own:
            file: PictureFile | None = PictureFile(
                data=own[number - 1].data, media_type=own[number - 1].media_type
            )
        else:
            file = read_picture(here.store, slot.picture_id) if slot.picture_id else None
        address = media_address(file, f"replay.{sample.id}.{number}")
        if address is None:
            drawn.append(missing(slot.name, here.entry.key))
            continue
        marks = _marks(here, bench, number)
        pointed = pointed or bool(marks)
        label = f"Picture {number} of the question: {sample.question[:120]}"
        drawn.append(picture(address, label, marks, here.filters.criterion))
    if pointed and bench.live.sight.unchecked:
        judge = bench.live.judge.name
        test = links.address(SETTINGS.url_path, Filters(study=here.filters.study), endpoint=judge)
        drawn.append(
            el("p", "How this judge writes boxes wasn't checked, so they may be drawn in the wrong "
               "place: ", kit.door(f"test {judge}", test), ".",
               class_="quiet small")
        )  # fmt: skip
    return el("div", drawn, style="display:flex;flex-direction:column;gap:10px")


def _marks(here: Here, bench: ReplayBench, number: int) -> list[RegionMark]:
    sample = bench.live.sample
    if bench.drafts:
        found = [
            (place, criterion_id(sample, draft), draft.question, draft.regions)
            for place, draft in enumerate(bench.drafts, start=1)
        ]
    elif bench.solved is not None:
        found = [
            (place, f"step-{place}", step.text, step.regions)
            for place, step in enumerate(bench.solved.steps, start=1)
        ]
    else:
        found = []
    filters = here.filters.but(sample=here.filters.sample)
    return [
        RegionMark(
            number=place,
            light=light,
            box=region.box,
            words=words,
            href=links.address(
                REPLAY.url_path, filters.but(criterion=light), tab=here.query.get("tab")
            ),
        )
        for place, light, words, regions in found
        for region in regions
        if region.picture == number
    ]


def question(sample: Sample) -> Html:
    """Write the question, its choices and its reference."""
    choices = [
        el(
            "li",
            kit.quiet(chr(65 + number)),
            el("span", choice, class_="text strong" if choice == sample.reference else "text"),
            kit.small("reference") if choice == sample.reference else None,
        )
        for number, choice in enumerate(sample.choices[:26])
    ]
    marked = sample.reference is not None and sample.reference in sample.choices
    known = sample.reference is not None
    reference = el(
        "p",
        kit.term("reference answer", "Reference"),
        ": ",
        el("span", sample.reference or "none given", class_="text" if known else "quiet"),
        class_="small",
        style="margin-top:6px",
    )
    return el(
        "div",
        el("p", sample.question, class_="text"),
        el("ol", choices, class_="choices") if choices else None,
        None if marked else reference,
    )


# --- the judge's solution ------------------------------------------------------------------------


def solution(solved: Replay | None, call: Call | None) -> Html:
    """Draw the judge's solution, or what stands there before it."""
    if solved is None:
        return el(
            "p", "The judge solves the question itself, before it sees any answer.", class_="quiet"
        )
    raw = call and kit.fold("Raw reply", said.said(call.reply or call.error or "", lights=False))
    if solved.state != "scored":
        kind: kit.Status = "unscored" if solved.state == "unscored" else "failed"
        return join(
            el("p", kit.status(kind, f"no usable solution ({solved.state})")),
            el("p", kit.told(solved.detail), class_="text quiet small"),
            raw,
        )
    words = {True: "as the reference says", False: "the reference says otherwise", None: ""}
    return el(
        "div",
        el(
            "ol",
            [
                el("li", el("span", step.text, class_="text"), data_light=f"step-{number}")
                for number, step in enumerate(solved.steps, start=1)
            ],
            class_="steps",
        ),
        el(
            "p",
            "Final answer: ",
            el("span", solved.final_answer, class_="text strong"),
            " ",
            kit.small(words[solved.agrees]),
        ),
        kit.notice(
            "The judge's solution disagrees with the reference: in a study this sample is set "
            "aside, since criteria cut from a wrong solution can't be trusted."
        )
        if solved.agrees is False
        else None,
        raw,
        style="display:flex;flex-direction:column;gap:6px",
    )


def growing(step: Step, text: str, seconds: float, price: str) -> Html:
    """Show a step that is under way: what has streamed in, or the shape of what is to come."""
    pieces = arriving(step, text)
    line = f"{seconds:.0f} s" + (f", {len(text):,} characters so far" if text else "")
    about = el("p", f"{line} · {price}" if price else line, class_="quiet small")
    if pieces and BY_NAME[step].by_candidate:
        return join(said.said(pieces[0]), about)
    if pieces:
        return join(el("ol", [el("li", el("span", p, class_="text")) for p in pieces],
                       class_="steps"), about)  # fmt: skip
    bones = [el("div", class_="bone", style=f"width:{width}%") for width in (92, 78, 86, 60)]
    return join(el("div", bones, class_="bones", aria_label="waiting for the reply"), about)


# --- answer and scores ---------------------------------------------------------------------------


def answer(given: BenchAnswer, card: Scorecard | None) -> Html:
    """Show the chosen answer with the words that the judge points at."""
    spans = [
        said.Span(start=line.point.span[0], end=line.point.span[1], light=line.criterion_id)
        for line in (card.lines if card else ())
        if line.point is not None and line.point.span is not None
    ]
    return el(
        "div",
        el(
            "div",
            kit.model(given.candidate.name, given.place if given.place >= 0 else 99),
            kit.small(verdict(given)),
            class_="row",
            style="margin-bottom:4px",
        ),
        said.said(given.response.text, spans),
        class_="oneanswer",
    )


def verdict(given: BenchAnswer) -> str:
    """Say whether the final answer is right."""
    outcome = given.outcome
    if outcome is None or outcome.value is None:
        return "final answer not decided by a rule"
    word = "right" if outcome.value >= 1 else "wrong" if outcome.value <= 0 else "partly right"
    return f"final answer {word}"


def scores(card: Scorecard, calls: dict[str, Call]) -> Html:
    """Draw the scores, criterion by criterion, with the judge's reasons."""
    counts = [numbers.count(card.scored, "scored", "scored")]
    counts += [f"{card.unscored:,} unscored"] if card.unscored else []
    counts += [f"{card.failed:,} failed"] if card.failed else []
    missing = len(card.missing) - card.failed
    counts += [f"{missing} to be scored"] if missing else []
    mean = "–" if card.mean is None else f"{card.mean:.2f} of 5"
    raws = {
        line.point.call_id: calls[line.point.call_id]
        for line in card.lines
        if line.point is not None and line.point.call_id in calls
    }
    return el(
        "div",
        el(
            "div",
            kit.strong(mean),
            kit.term("sample score", "weighted mean"),
            kit.small(", ".join(counts)),
            class_="row",
        ),
        el("div", [_score(line) for line in card.lines], class_="scores"),
        [
            kit.fold(
                "Raw reply" if len(raws) == 1 else f"Raw reply {number}",
                said.said(call.reply or call.error or "", lights=False),
            )
            for number, call in enumerate(raws.values(), start=1)
        ],
        style="display:flex;flex-direction:column;gap:6px",
    )


def _score(line: ScoreLine) -> Html:
    point = line.point
    if point is None:
        chip, words = score_marks.score_chip(None, glyph="…", note="to be scored"), "to be scored"
    elif point.state == "scored":
        chip, words = score_marks.score_chip(point.score), point.reason or "(no reason was given)"
    else:
        glyph = "∅" if point.state == "unscored" else "!"
        chip = score_marks.score_chip(None, glyph=glyph, note=point.state)
        words = f"{point.state}: {point.detail or point.reason}"
    return el(
        "div",
        el("span", line.number, class_="quiet num"),
        chip,
        el(
            "div",
            el("div", line.draft.question or "(no question yet)", class_="text small strong"),
            el("div", words[:_MOST_REASON], class_="text small quiet"),
        ),
        el("span", f"w {line.draft.weight}", class_="quiet small num"),
        class_="score",
        data_light=line.criterion_id,
    )


def what_follows() -> Html:
    """Say what will happen once there is a question."""
    steps = (
        "The judge solves the question itself, step by step.",
        "It cuts its solution into a few criteria, which you can edit.",
        "A model answers, or you paste an answer, and the judge scores it at each criterion.",
        "You keep it in a study, or leave it.",
    )
    return el(
        "div",
        el("h2", "What happens next"),
        el("ol", [el("li", step) for step in steps], class_="steps quiet"),
        el("p", "Nothing is sent anywhere before you have seen the price and agreed.",
           class_="quiet small", style="margin-top:8px"),
    )  # fmt: skip


def only_probes(has_user_endpoints: bool, settings_href: str) -> Html:
    """Say that the probe judge can't be asked about this picture."""
    next_ = (
        "Choose one of your own endpoints as the judge above, or pick a probe."
        if has_user_endpoints
        else "Pick a sample of a synthetic study, upload a probe, or set up an endpoint of your "
        "own: any OpenAI-compatible server will do."
    )
    return kit.empty(
        ONLY_PROBES,
        "It reads the truth from the picture's own program, and this picture has none, so there "
        f"is nothing that it could say about it. {next_}",
        kit.button("Set up an endpoint", settings_href),
    )
