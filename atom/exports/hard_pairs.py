"""Hard pairs as files: VL-RewardBench's layout, Multi-Crit's, their pictures, and a warning.

Both are read back by `judge bench`, here and elsewhere.

Reference: METHODS T9; VL-RewardBench 2 (fields); Multi-Crit 3.3 (a row a criterion).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from atom.display import numbers
from atom.records import Picture, Sample
from atom.stages.answer import lettered
from atom.store import Store
from atom.views.lab.hard_pairs import HardPairs, PairCase, leaf_leads, texts_of
from atom.views.study_data import StudyData
from taxonomy import Path, format_path

VL_FILE: Final = "vl_rewardbench.jsonl"
MULTI_CRIT_FILE: Final = "multi_crit.jsonl"
READ_ME: Final = "README.md"
OVERALL: Final = "overall"
WARNING: Final = (
    "These pairs were chosen because the judges named under `chosen_by` fail at them. So the set "
    "can't rank those judges: whatever they score on it was decided when it was chosen, and more "
    "votes make them worse on it, since a majority repeats what a single vote mostly does. Use it "
    "to compare other judges."
)
"""What must be known of such a set (METHODS A13)."""


@dataclass(frozen=True, kw_only=True)
class PairFiles:
    """A set as files.

    Attributes:
        texts: file name -> content.
        pictures: file name -> bytes.
        pairs: how many pairs there are.
        criteria: how many rows of Multi-Crit.
    """

    texts: dict[str, str]
    pictures: dict[str, bytes]
    pairs: int
    criteria: int

    def zipped(self) -> bytes:
        """Return all of it as a zip file."""
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as out:
            for name, text in self.texts.items():
                out.writestr(name, text)
            for name, data in self.pictures.items():
                out.writestr(name, data, zipfile.ZIP_STORED)
        return held.getvalue()


def pair_files(
    store: Store, data: StudyData, view: HardPairs, *, confirmed: bool = True
) -> PairFiles:
    """Lay a run's hard pairs out as files.

    Args:
        confirmed: leave out what nobody has confirmed yet.
    """
    cases = view.chosen(confirmed=confirmed)
    samples, texts = texts_of(store, cases)
    known = [case for case in cases if case.pair.sample_id in samples]
    pictures, names = _pictures(store, [samples[case.pair.sample_id] for case in known])
    rows, criteria = [], []
    leads = leaf_leads(data, [case.pair for case in known])
    words = _leaf_words(data)
    for number, (case, lead) in enumerate(zip(known, leads, strict=True), start=1):
        shared = _PairContext(
            key=f"{data.study.id[:12]}-{number:05d}",
            sample=samples[case.pair.sample_id],
            texts=(texts.get(case.pair.a, ""), texts.get(case.pair.b, "")),
            images=[names[slot.picture_id] for slot in samples[case.pair.sample_id].pictures
                    if slot.picture_id in names],
        )  # fmt: skip
        rows.append(_vl_row(case, shared, view, data))
        criteria += list(_criteria_rows(case, shared, lead, words))
    files = {VL_FILE: _lines(rows), MULTI_CRIT_FILE: _lines(criteria),
             READ_ME: _read_me(view, known, data, confirmed=confirmed)}  # fmt: skip
    return PairFiles(texts=files, pictures=pictures, pairs=len(rows), criteria=len(criteria))


@dataclass(frozen=True, kw_only=True)
class _PairContext:
    """What a pair's rows have in common."""

    key: str
    sample: Sample
    texts: tuple[str, str]
    images: list[str]

    @property
    def query(self) -> str:
        choices = lettered(self.sample.choices)
        return "\n".join(filter(None, (self.sample.question.strip(), choices)))

    @property
    def image(self) -> str | list[str] | None:
        return self.images[0] if len(self.images) == 1 else self.images or None


def confirmed_by(case: PairCase, strong: str | None) -> str:
    """Say who confirmed a pair: `people`, the strong judge's name, or nobody (empty)."""
    if case.people is not None:
        return "people"
    return strong or "" if case.stand is not None else ""


def _vl_row(
    case: PairCase, shared: _PairContext, view: HardPairs, data: StudyData
) -> dict[str, object]:
    return {
        "id": shared.key,
        "query": shared.query,
        "response": list(shared.texts),
        "image": shared.image,
        "human_ranking": [0, 1] if case.better == "a" else [1, 0],
        "models": list(case.models),
        "query_source": data.study.name,
        "ground_truth": shared.sample.reference,
        "known_by": case.pair.by,
        "confirmed_by": confirmed_by(case, view.strong),
        "category": case.lost[0][0] if case.lost else "",
        "lost_on": [format_path(leaf) for leaf in case.lost],
        "chosen_by": [judge.name for judge in view.judges],
        "synthetic": view.synthetic,
    }


def _criteria_rows(
    case: PairCase, shared: _PairContext, leads: dict[Path, float], words: dict[Path, str]
) -> Iterator[dict[str, object]]:
    """Give a row for the pair as a whole, and one for each capability that tells it apart."""
    sides = {OVERALL: case.better}
    for leaf, lead in sorted(leads.items()):
        if abs(lead) > 1e-9:
            sides[words[leaf]] = "a" if lead > 0 else "b"
    for criterion, side in sides.items():
        yield {
            "question_id": f"{shared.key}__{criterion}",
            "image_path": shared.image,
            "question": shared.query,
            "pred_a": shared.texts[0],
            "pred_b": shared.texts[1],
            "model_a": case.models[0],
            "model_b": case.models[1],
            "split": "open_ended" if shared.sample.reference is None else "reasoning",
            "criterion": criterion,
            "preference": f"model_{side}",
        }


def _leaf_words(data: StudyData) -> dict[Path, str]:
    """Name capabilities as criteria: by their own name, by the whole path where two share it."""
    seen = Counter(leaf[-1].casefold() for leaf in data.table.leaves)
    return {
        leaf: leaf[-1] if seen[leaf[-1].casefold()] == 1 else " ".join(leaf)
        for leaf in data.table.leaves
    }


def _pictures(store: Store, samples: Sequence[Sample]) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return pictures by file name, and each picture's file name by its id."""
    ids = {slot.picture_id for sample in samples for slot in sample.pictures if slot.picture_id}
    files: dict[str, bytes] = {}
    names: dict[str, str] = {}
    for one in store.get_many(Picture, sorted(ids)):
        suffix = PurePosixPath(one.media_type).name.replace("jpeg", "jpg").split("+")[0]
        names[one.id] = f"images/{one.id[:24]}.{suffix}"
        files[names[one.id]] = store.pictures.read(one.id)
    return files, names


def _lines(rows: Sequence[dict[str, object]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def _read_me(
    view: HardPairs, cases: Sequence[PairCase], data: StudyData, *, confirmed: bool
) -> str:
    share = view.accepted
    judges = ", ".join(judge.name for judge in view.judges)
    by = ", ".join(f"{name}: {n:,}" for name, n in view.by.items())
    lines = [
        f"# Hard pairs of {data.study.name}",
        "",
        "SYNTHETIC: questions, pictures and answers were made by programs." if view.synthetic
        else "",
        f"{numbers.count(len(cases), 'pair')} of answers, "
        + ("each confirmed." if confirmed else "some of them confirmed by nobody."),
        "",
        f"**{WARNING}**",
        "",
        f"- Chosen by: {judges}; {view.task.votes} votes each in either order; a pair is hard "
        f"where {view.task.fail:,} of {len(view.judges):,} fail at it.",
        f"- Which answer is better is known by: {by}.",
        f"- Acceptance: {numbers.percent(100 * share.value, share.n)} of "
        f"{numbers.count(share.n, 'pair')} are hard; "
        + ", ".join(f"{name}: {n:,}" for name, n in view.decisions.items()) + ".",
        "- What the worse answer loses most on: "
        + (", ".join(f"{format_path(leaf)}: {n:,}" for leaf, n in view.errors) or "not known")
        + ".",
        "",
        f"`{VL_FILE}` has VL-RewardBench's fields (`judge bench vl_rewardbench --files {VL_FILE}`),"
        f" `{MULTI_CRIT_FILE}` Multi-Crit's: a row for the pair as a whole (`{OVERALL}`) and one "
        "for each capability whose criteria tell the answers apart, by the study's judge.",
        "",
    ]  # fmt: skip
    return "\n".join(line for at, line in enumerate(lines) if line or at != 2)
