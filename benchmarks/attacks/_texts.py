"""Three hundred hostile texts, and a study that holds one wherever it has room for a text."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from atom.records import (
    Call,
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Judge,
    Mapping,
    Outcome,
    PictureSlot,
    Region,
    Replay,
    ReplayStep,
    Response,
    Sample,
    Sampling,
    Study,
    StudyCandidate,
    StudySample,
    Tag,
    TreeRecord,
)
from atom.store import Store
from benchmarks.attacks._app import EVIL
from taxonomy import parse_tree, to_json, tree_version

TEXTS = 300
SAMPLES = 12
_SEVERAL = 4
CANDIDATES = tuple(f"hostile-{n}" for n in range(4))
_KINDS = (
    "<script>window.pwned={n}</script>",
    "<img src=http://{evil}/{n} onerror=window.pwned={n}>",
    "![x](http://{evil}/{n}.png)",
    "[x](http://{evil}/{n})",
    "[x](javascript:window.pwned={n})",
    "http://{evil}/{n}",
    "www.{evil}/{n} me@{evil}",
    '"><svg onload=window.pwned={n}>',
    "' onmouseover=window.pwned={n} x='",
    ":red[x] :material/home: :smile: -> <- $x^{n}$",
    r"$\href{{http://{evil}/{n}}}{{x}}$ $$\includegraphics{{http://{evil}/{n}}}$$",
    "`x` **b** ~~s~~ _i_",
    "<iframe src=http://{evil}/{n}></iframe>",
    "</textarea></style></script><script>window.pwned={n}</script>",
    "{{{{constructor.constructor('window.pwned={n}')()}}}}",
    "<a href=http://{evil}/{n}>x</a>",
    '<a href="javascript:window.pwned={n}">x</a>',
    "\u202eoverride\u202d \u2067isolate {n}",
    "\x1b]0;pwned\x07\x1b[31m {n}",
    '=HYPERLINK("http://{evil}/{n}")',
    "\u200b\uff1dcmd|'/c calc'!A{n}",
    "<style>*{{background:url(http://{evil}/{n})}}</style>",
    "<link rel=stylesheet href=//{evil}/{n}>",
    '<meta http-equiv=refresh content="0;url=http://{evil}/{n}">',
    "![x][r{n}]\n\n[r{n}]: http://{evil}/{n}",
    "<!-- ]]> --> <![CDATA[ {n}",
    "&lt;img src=x onerror=window.pwned={n}&gt;",
    "\\u003cimg src=x onerror=window.pwned={n}\\u003e",
    "# head {n}\n- list\n> quote\n```js\nwindow.pwned={n}",
    "<b onclick=window.pwned={n}>b</b> <base href=http://{evil}/>",
)
KINDS = len(_KINDS)
"""How many kinds there are; a text's number, divided by it, leaves its kind's."""


def hostile(number: int) -> str:
    """Return the text of a number, with its mark in front and behind."""
    kind = _KINDS[number % KINDS].format(n=number, evil=EVIL)
    return f"{mark(number)} {kind} {mark(number)}"


def mark(number: int) -> str:
    """Return what a text is found by on a screen."""
    return f"zq{number}z"


@dataclass
class Texts:
    """Deals the texts out, one after the other, beginning anew after the last."""

    dealt: int = 0
    used: dict[int, str] = field(default_factory=dict)

    def next(self, place: str) -> str:
        """Return the next text and note where it stands."""
        number = self.dealt % TEXTS
        self.dealt += 1
        self.used.setdefault(number, place)
        return hostile(number)

    def several(self, place: str, between: str = " ") -> str:
        """Return the next few texts as one, so that a screen shows many."""
        return between.join(self.next(place) for _ in range(_SEVERAL))


def spread(folder: Path, texts: Texts) -> tuple[Study, list[str]]:
    """Write a study into a store; every text in it is hostile; -> (study, ids of its samples)."""
    samples: list[str] = []
    with Store.open(folder) as store:
        tree_text = _tree(texts)
        tree = parse_tree(tree_text)
        leaves = tuple(tuple(path) for path in tree.leaves)
        record = TreeRecord(version=tree_version(tree), name=tree.name, body=to_json(tree))
        judge = Judge(id="hostile-judge", name=texts.next("judge"))
        candidates = [
            Candidate(id=name, name=texts.several("candidate")[:200]) for name in CANDIDATES
        ]
        study = Study(
            id=Study.make_id("hostile"),
            name=texts.next("study"),
            created="2026-01-01T00:00:00Z",
            judge_id=judge.id,
            tree_version=record.version,
            judge_sampling=Sampling(),
            answer_sampling=Sampling(),
        )
        store.put([record, judge, study, *candidates])
        store.put(
            StudyCandidate(study_id=study.id, candidate_id=one.id, position=place)
            for place, one in enumerate(candidates)
        )
        for number in range(SAMPLES):
            made = _sample(store, study, judge, candidates, leaves, texts, number)
            samples.append(made)
    return study, samples


def _tree(texts: Texts) -> str:
    import yaml

    def node(depth: int) -> dict[str, object]:
        made: dict[str, object] = {"name": _one_line(texts.next("node"))}
        if depth:
            made["children"] = [node(depth - 1) for _ in range(2)]
        else:
            made["meaning"] = _one_line(hostile(6))
        return made

    roots = [node(3) for _ in range(2)]
    return yaml.safe_dump({"name": _one_line(texts.next("tree")), "roots": roots})


def _one_line(text: str) -> str:
    """Return a text as a node's name may be: no line breaks, no control signs, no separator."""
    kept = "".join(sign if sign.isprintable() else " " for sign in text)
    return " ".join(kept.replace("›", " ").split())[:100]


def _sample(
    store: Store,
    study: Study,
    judge: Judge,
    candidates: list[Candidate],
    leaves: tuple[tuple[str, ...], ...],
    texts: Texts,
    number: int,
) -> str:
    picture = store.add_picture(_picture(number))
    data_set = texts.next("data set")
    sample = Sample(
        id=Sample.make_id(data_set, str(number)),
        dataset=data_set,
        source_id=texts.next("source id"),
        question=texts.several("question", "\n\n"),
        choices=tuple(texts.next("choice") for _ in range(2)),
        reference=texts.several("reference", "\n\n"),
        pictures=(PictureSlot(name=hostile(3), picture_id=picture.id),),
    )
    tag = Tag(subject="sample", subject_id=sample.id, source=hostile(5),
              facet=hostile(2), value=hostile(number % 3))  # fmt: skip
    criteria = [_criterion(sample, texts) for _ in range(3)]
    replay = Replay(
        id=Replay.make_id(sample.id, judge.id, "replay/1", Sampling()),
        sample_id=sample.id,
        judge_id=judge.id,
        prompt="replay/1",
        sampling=Sampling(),
        state="scored",
        steps=tuple(ReplayStep(text=texts.several("step", "\n\n"),
                               regions=(Region(box=(10, 10, 400, 400)),)) for _ in range(2)),
        final_answer=texts.several("final answer", "\n\n"),
        agrees=number != 3,
    )  # fmt: skip
    uses = CriteriaSet(
        id=CriteriaSet.make_id(sample.id, judge.id, "criteria/1", Sampling()),
        sample_id=sample.id,
        judge_id=judge.id,
        replay_id=replay.id,
        prompt="criteria/1",
        sampling=Sampling(),
        state="scored",
        uses=tuple(
            CriterionUse(criterion_id=one.id, position=place, weight=(3, 3, 4)[place], step=1)
            for place, one in enumerate(criteria)
        ),
    )
    mappings = [
        Mapping(criterion_id=one.id, tree_version=study.tree_version or "", judge_id=judge.id,
                prompt="mapping/1", state="scored", leaf=leaves[(number + place) % len(leaves)])
        for place, one in enumerate(criteria)
    ]  # fmt: skip
    place_ = StudySample(study_id=study.id, sample_id=sample.id, position=number,
                         replay_id=replay.id, criteria_set_id=uses.id)  # fmt: skip
    store.put([sample, tag, replay, uses, *criteria, *mappings, place_])
    for place, candidate in enumerate(candidates):
        _answer(store, sample, judge, candidate, criteria, texts, number + place)
    return sample.id


def _criterion(sample: Sample, texts: Texts) -> Criterion:
    question, truth = texts.several("criterion"), texts.several("truth")
    return Criterion(
        id=Criterion.make_id(sample.id, question, truth),
        sample_id=sample.id,
        question=question,
        ground_truth=truth,
    )


def _answer(
    store: Store,
    sample: Sample,
    judge: Judge,
    candidate: Candidate,
    criteria: list[Criterion],
    texts: Texts,
    number: int,
) -> None:
    text = f"{texts.next('answer')}\n{texts.next('answer')}"
    response = Response(
        id=Response.make_id(sample.id, candidate.id, "answer/1", Sampling()),
        sample_id=sample.id,
        candidate_id=candidate.id,
        prompt="answer/1",
        sampling=Sampling(),
        state="scored",
        text=text,
    )
    right = number % 3 != 0
    call = Call(
        id=f"call-{response.id}",
        request_hash=response.id,
        task="scoring",
        endpoint=hostile(0),
        model=hostile(1),
        prompt="scoring/1",
        reply=hostile(4),
    )
    store.put([response, Outcome(response_id=response.id, how="numeric", value=float(right)), call])
    store.put(
        Checkpoint(
            key=Checkpoint.make_key(one.id, response.id, judge.id, "scoring/1", Sampling()),
            criterion_id=one.id,
            response_id=response.id,
            judge_id=judge.id,
            prompt="scoring/1",
            sampling=Sampling(),
            call_id=call.id,
            state="unscored" if (number, place) == (2, 1) else "scored",
            detail=texts.several("detail", "\n\n") if (number, place) == (2, 1) else "",
            score=None if (number, place) == (2, 1) else (5 if right else 1 + place),
            reason="" if (number, place) == (2, 1) else texts.several("reason", "\n\n"),
            quote=text[:40],
            span=(0, 40),
        )
        for place, one in enumerate(criteria)
    )


def _picture(number: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (320, 200), (40 + 10 * number, 90, 160)).save(out, "PNG")
    return out.getvalue()


def endpoints(texts: Texts) -> str:
    """Return an endpoints file whose names are hostile."""
    import yaml

    rows = [
        {"name": _one_line(texts.next("endpoint"))[:80], "base_url": f"https://{EVIL}/v1",
         "model": _one_line(texts.next("model")), "family": _one_line(texts.next("family")),
         "roles": ["judge", "candidate"]}
        for _ in range(3)
    ]  # fmt: skip
    return yaml.safe_dump(rows, allow_unicode=True)
