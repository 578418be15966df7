"""The Human check page's deck: one thing to label, with its keys."""

from __future__ import annotations

from dataclasses import dataclass

from atom.display import numbers
from atom.records import Annotation, PictureSlot, Region
from atom.ui import kit, score_marks
from atom.ui import said as ui_said
from atom.ui.failures.question import question
from atom.ui.html import Child, Html, el, join
from atom.ui.media import media_address
from atom.ui.people.acts import preferred
from atom.ui.people.desk import Desk
from atom.ui.people.guides import ASKS, PAIR_WORDS, SCORE_WORDS, THREE_WORDS
from atom.ui.picture import RegionMark, missing, picture
from atom.views.failures.marked import shortened_mark
from atom.views.failures.sample import SampleView
from atom.views.people.own_criteria import NO, YES
from atom.views.people.page import ERROR_TYPES, LabelItem, find_criterion, scored_points
from atom.views.people.reports import report_text
from atom.views.pictures import read_picture

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_QUESTION, _ANSWER = 240, 700
"""Letters of a question and of a raw answer beside a blind report."""


@dataclass(frozen=True, kw_only=True)
class DeckItem:
    """An item as the browser gets it."""

    id: str
    html: Html
    mode: str
    """`choice`, `ranking`, `leaf` or `write`."""
    keys: tuple[str, ...]
    answers: int
    open: bool
    pictures: tuple[str, ...]

    def plain(self) -> dict[str, object]:
        """Return it as plain JSON."""
        return {
            "id": self.id, "html": str(self.html), "mode": self.mode, "keys": list(self.keys),
            "answers": self.answers, "open": self.open, "pictures": list(self.pictures),
        }  # fmt: skip


Addresses = dict[tuple[str, int], str | None]
"""(sample, picture's number) → where it is served; each is read once a run."""


def deck_items(desk: Desk) -> list[dict[str, object]]:
    """Draw what the browser holds."""
    served: Addresses = {}
    return [deck_item(desk, item, served).plain() for item in desk.window()]


def deck_item(desk: Desk, item: LabelItem, served: Addresses | None = None) -> DeckItem:
    """Draw one thing to label.

    Args:
        served: pictures that are served already in this run.
    """
    label = desk.mine(item)
    addresses: tuple[str, ...] = ()
    if item.kind == "report":
        html = _report(desk, item, label)
    else:
        html, addresses = _of_sample(desk, item, label, {} if served is None else served)
    return DeckItem(
        id=item.id,
        html=html,
        mode={"ranking": "ranking", "mapping": "leaf", "written": "write"}.get(item.kind, "choice"),
        keys=tuple(str(number + 1) for number in range(len(_choices(desk, item)))),
        answers=len(item.response_ids),
        open=desk.is_open(item),
        pictures=addresses,
    )


# --- one item -------------------------------------------------------------------------------------


def _of_sample(
    desk: Desk, item: LabelItem, label: Annotation | None, served: Addresses
) -> tuple[Html, tuple[str, ...]]:
    view = desk.view(item.sample_id)
    if view is None:
        gone = kit.empty("This sample is gone", "It was removed meanwhile. Press J for the next.")
        return gone, ()
    shown, addresses = _pictures(desk, item, view, served)
    left = el("div", shown, el("div", question(view), style="margin-top:10px"))
    ask = el("p", ASKS[item.kind], class_="say")
    keys, answers = _keys(desk, item, label), _answers(desk, item, view)
    # Many answers are longer than the screen: what to press stands above them.
    beside = item.kind in ("ranking", "preference")
    rest = (ask, keys, answers) if beside else (answers, _judged(desk, item, view))
    right = el(
        "div",
        _where(desk, item, label),
        _disagree(desk, item),
        _asked(desk, view, item),
        *rest,
        *(() if beside else (ask, keys)),
    )
    wide = " wide-right" if beside else ""
    return el("div", left, right, class_=f"bench{wide}"), addresses


def _where(desk: Desk, item: LabelItem, label: Annotation | None) -> Html:
    position = desk.data.sample_position.get(item.sample_id)
    words: list[Child] = []
    if position is not None:
        words.append(kit.strong(f"Sample no. {position + 1}"))
    if item.of > 1:
        words.append(f"{item.at:,} of {item.of:,} here")
    if label is not None and not desk.is_open(item):
        words.append("you skipped this" if label.state == "skipped" else "you labelled this")
    return el("div", [el("span", word) for word in words], class_="where")


def _disagree(desk: Desk, item: LabelItem) -> Html | None:
    if desk.queue != "conflicts":
        return None
    said = [_said_words(desk, item, one) for one in desk.others(item)]
    return kit.notice("One person says: " + "; another: ".join(said))


def _said_words(desk: Desk, item: LabelItem, label: Annotation) -> str:
    if item.kind == "ranking":
        letters = {name: str(at + 1) for at, name in enumerate(item.response_ids)}
        by_place: dict[int, list[str]] = {}
        for rank in label.ranks:
            by_place.setdefault(rank.rank, []).append(letters.get(rank.response_id, "?"))
        return " > ".join(" = ".join(sorted(names)) for _, names in sorted(by_place.items()))
    if item.kind == "preference":
        told = [words for at, words in enumerate(PAIR_WORDS) if _chose(desk, item, label, at)]
        return told[0] if told else label.label
    if label.value is not None:
        words = _words(desk, item)
        at = int(label.value) - 1
        return f"{label.value:g} ({words[at]})" if 0 <= at < len(words) else f"{label.value:g}"
    return label.label


def _asked(desk: Desk, view: SampleView, item: LabelItem) -> Html | None:
    if item.kind == "match":
        line = desk.own_lines(item.sample_id).get(item.subject_id, "")
        return el(
            "div", kit.under("You wrote"), el("div", line, class_="text strong"), class_="asked"
        )
    one = find_criterion(view, item.criterion_id)
    if one is None:
        return None
    return el(
        "div",
        kit.under(f"Criterion {one.number:,} of {len(view.criteria):,}"),
        el("div", one.criterion.question, class_="text strong"),
        el("div", kit.quiet("Truth: "),
           el("span", one.criterion.ground_truth, class_="text"), class_="truth"),
        class_="asked",
    )  # fmt: skip


def _answers(desk: Desk, item: LabelItem, view: SampleView) -> Html | None:
    texts = {answer.response.id: answer.response.text for answer in view.answers}
    if item.kind in ("ranking", "preference"):
        placed = el("span", "not placed", class_="rank") if item.kind == "ranking" else None
        cards = [
            el(
                "div",
                el(
                    "div",
                    el("kbd", at + 1),
                    kit.strong(f"Answer {LETTERS[at % 26]}"),
                    placed,
                    class_="cardhead",
                ),
                ui_said.said(texts.get(name, ""), lights=False),
                class_="card",
                data_answer=at,
                data_press=str(at + 1),
            )
            for at, name in enumerate(item.response_ids[:9])
        ]
        return el("div", cards, class_="cards")
    if not item.response_ids:
        return None
    name = item.response_ids[0]
    order = list(dict.fromkeys(
        one.response_ids[0] for one in desk.items
        if one.sample_id == item.sample_id and one.response_ids
    ))  # fmt: skip
    place = order.index(name) if name in order else 0
    title = f"Answer {LETTERS[place % 26]}"
    if desk.queue == "scores" and len(order) > 1:
        title += f" of {len(order):,}"
    spans: list[ui_said.Span] = []
    point = scored_points(view).get((item.criterion_id, name))
    if item.kind == "error_type" and point is not None and point.span is not None:
        spans = [ui_said.Span(start=point.span[0], end=point.span[1], on=True)]
    return el("div", el("h2", title), ui_said.said(texts.get(name, ""), spans, lights=False))


def _judged(desk: Desk, item: LabelItem, view: SampleView) -> Html | None:
    """Show what the judge said, where that is what is asked about."""
    if item.kind == "mapping":
        return el("div", "The judge says: ", kit.strong(desk.judged_leaf(item)), class_="text")
    if item.kind != "error_type":
        return None
    point = scored_points(view).get((item.criterion_id, (item.response_ids or ("",))[0]))
    if point is not None:
        people = desk.stands.get(("score", item.subject_id))
        gap = "" if people is None or people.value is None else f", people say {people.value:g}"
        return el(
            "div",
            el(
                "div",
                "The judge gives ",
                score_marks.score_chip(round(point.points or 1), text=shortened_mark(point.raw)),
                gap,
            ),
            el("div", point.reason or "(the judge gave no reason)", class_="text quiet"),
            style="margin-top:8px",
        )
    if view.replay is None:
        return None
    steps = [el("li", el("span", step.text, class_="text")) for step in view.replay.steps]
    return el(
        "div",
        el("h2", "The judge's own solution, which disagrees with the reference"),
        el("div", el("ol", steps, style="margin:0;padding-left:20px"), class_="said",
           style="white-space:normal"),
        el("p", "Its final answer: ", el("span", view.replay.final_answer, class_="strong text")),
    )  # fmt: skip


def _words(desk: Desk, item: LabelItem) -> tuple[str, ...]:
    if item.kind == "score":
        return SCORE_WORDS
    if item.kind in THREE_WORDS:
        return THREE_WORDS[item.kind]
    if item.kind == "preference":
        return PAIR_WORDS
    if item.kind == "wanted":
        return ("yes, I would", "no")
    if item.kind == "match":
        return ("none of them", *_criteria_words(desk, item))
    return ERROR_TYPES if item.kind == "error_type" else ()


def _criteria_words(desk: Desk, item: LabelItem) -> tuple[str, ...]:
    view = desk.view(item.sample_id)
    criteria = view.criteria if view is not None else ()
    return tuple(
        numbers.middle(" ".join(one.criterion.question.split()), 110) for one in criteria[:8]
    )


def _choices(desk: Desk, item: LabelItem) -> tuple[str, ...]:
    """Return the words behind the keys 1, 2, 3 ..."""
    if item.kind == "mapping":
        return ("yes",)
    if item.kind == "report":
        return tuple(f"model {LETTERS[at]}" for at in range(len(desk.profile_order)))
    return _words(desk, item)


def _keys(desk: Desk, item: LabelItem, label: Annotation | None) -> Html:
    if item.kind == "ranking":
        told = "T before the first number ties all; T later ties the next answer with the last."
        if label is not None and label.state == "given":
            told = f"You said: {_said_words(desk, item, label)}. {told}"
        return el("p", told, class_="quiet small", data_told="1")
    if item.kind == "written":
        return _writing(label)
    given = label if label is not None and label.state == "given" else None
    marked = given if desk.queue != "conflicts" or (given and given.adjudicates) else None
    buttons = [
        el(
            "button",
            el("kbd", at + 1),
            el("span", words),
            type="button",
            class_="key",
            data_press=str(at + 1),
            aria_pressed="true" if marked and _chose(desk, item, marked, at) else "false",
        )
        for at, words in enumerate(_choices(desk, item))
    ]
    if item.kind != "mapping":
        return el("div", buttons, class_="keys", role="group", aria_label=ASKS[item.kind])
    other = marked.label if marked and not _chose(desk, item, marked, 0) else ""
    choose = el("button", el("kbd", "2"), el("span", "another one"), type="button", class_="key",
                data_press="2", aria_pressed="true" if other else "false")  # fmt: skip
    return join(
        el("div", buttons, choose, class_="keys"),
        el("p", f"You chose: {other}", class_="small text") if other else None,
        el("input", type="text", placeholder="Words of a capability; arrows, then Enter",
           aria_label="Search a capability"),
        el("div", data_hits="1"),
    )  # fmt: skip


def _writing(label: Annotation | None) -> Html:
    """Draw the field for one's own criteria."""
    return join(
        el("textarea", label.label if label is not None else "", rows="7", data_write="1",
           aria_label=ASKS["written"], placeholder="One criterion a line"),
        el("div",
           el("button", el("kbd", "Ctrl Enter"), el("span", "that is all"), type="button",
              class_="key", data_press="write"),
           kit.small("Enter begins to write, Esc leaves the field"),
           class_="keys"),
    )  # fmt: skip


def _chose(desk: Desk, item: LabelItem, label: Annotation, at: int) -> bool:
    if label.value is not None:
        return label.value == at + 1
    if item.kind == "mapping":
        return label.label == desk.judged_leaf(item)
    if item.kind == "preference":
        return preferred(item, at + 1) == label.label
    if item.kind == "wanted":
        return label.label == (YES, NO)[at]
    if item.kind == "match":
        order = desk.match_order(item)
        return at < len(order) and order[at] == label.label
    names = ERROR_TYPES if item.kind == "error_type" else desk.profile_order
    return at < len(names) and names[at] == label.label


# --- pictures -------------------------------------------------------------------------------------


def _pictures(
    desk: Desk, item: LabelItem, view: SampleView, served: Addresses
) -> tuple[Html, tuple[str, ...]]:
    slots = view.sample.pictures
    if not slots:
        return el("p", "This sample has no picture.", class_="quiet"), ()
    one = find_criterion(view, item.criterion_id)
    regions = one.regions if one is not None else ()
    shown, addresses = [], []
    for number, slot in enumerate(slots, start=1):
        place = view.sample.id, number
        if place not in served:
            served[place] = _address(desk, view, number, slot)
        address = served[place]
        if address is None:
            shown.append(missing(slot.name, desk.data.study.id))
            continue
        addresses.append(address)
        marks = [_mark(region, one.number if one else 1) for region in regions
                 if region.picture == number]  # fmt: skip
        alt = f"Picture {number} of the question: {view.sample.question[:120]}"
        shown.append(picture(address, alt, marks, "here" if marks else None))
    several = "several" if len(slots) > 1 else None
    return el("div", shown, class_=several), tuple(addresses)


def _address(desk: Desk, view: SampleView, number: int, slot: PictureSlot) -> str | None:
    if slot.picture_id is None:
        return None
    file = read_picture(desk.store, slot.picture_id)
    return media_address(file, f"label.{view.sample.id}.{number}")


def _mark(region: Region, number: int) -> RegionMark:
    words = "where this step is seen"
    return RegionMark(number=number, light="here", box=region.box, words=words, href="#")


# --- blind reports --------------------------------------------------------------------------------


def _report(desk: Desk, item: LabelItem, label: Annotation | None) -> Html:
    own = desk.profiles.get(item.subject_id)
    lines = report_text(own) if own is not None else ()
    raw, said = desk.raw_answers, label.label if label is not None else ""
    heads = [_model_head(at, pressed=name == said) for at, name in enumerate(desk.profile_order)]
    rows = [
        join(
            el("div", el("p", one.question[:_QUESTION]),
               el("p", "Known answer: ", kit.strong(one.known[:_QUESTION]))
               if one.known else None,
               class_="ask text"),
            *(el("p", text[:_ANSWER] or "(no answer)", class_="text") for text in one.texts),
        )
        for one in raw
    ]  # fmt: skip
    return el(
        "div",
        el("div", el("div", kit.strong(f"Report {item.at:,} of {item.of:,}"),
                     class_="where"),
           el("div", [el("p", line) for line in lines], class_="said",
              style="white-space:normal;max-height:none")),
        el("div", el("p", ASKS["report"], class_="say", style="margin-top:0"),
           el("p", f"{numbers.count(len(raw), 'question')}, the same for all; scroll to read.",
              class_="quiet small"),
           el("div", heads, rows, class_="raw", tabindex="0",
              style=f"--models:{len(desk.profile_order)}")),
        class_="bench wide-right",
    )  # fmt: skip


def _model_head(at: int, *, pressed: bool) -> Html:
    return el("div", el("kbd", at + 1), kit.strong(f"Model {LETTERS[at]}"),
              class_="cardhead on" if pressed else "cardhead", data_press=str(at + 1),
              role="button", aria_pressed="true" if pressed else "false")  # fmt: skip
