"""Every number of the shared judgments on criteria comes out, and every trap is handled.

Truth: `shared/real/criteria/README.md` and `expected.json`, computed from the same files by others.
`figures` builds the same tree of numbers from what the product holds; each number is equal, or is
named below with the reason and with what the product says in its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atom.analysis.agreement.raters import rank_correlation
from atom.formats import ColumnMap, read_column_map
from atom.records import CriteriaSet, Sample
from tests.atom.formats.judgments.figures import (
    dsg,
    llm_rubric,
    paperbench,
    thumb,
    ttcw,
    viescore,
)
from tests.atom.formats.judgments.figures.common import Figures, flat
from tests.atom.formats.judgments.frames import Brought, brought, inside

pytestmark = pytest.mark.slow

E4 = 6e-5
"""The truth has four decimals."""
ABSENT = "absent"
IN_WORDS = "said in the account, which names the question: see the test of that trap"
SHARES = "a leaf's weight is kept as its share of the whole tree, from which all scores come out"
TIES = (
    "published O ranks the rounding noise of numpy's mean of three raters: (a + b + c) / 3 of the "
    "same marks in another order differs in the last bit; here equal means tie"
)
_IG = "viescore/ImagenHub_Control-Guided_IG/judges/results_"
_IC = "viescore/ImagenHub_Multi-Concept_IC/judges/results_"
OTHERWISE: dict[str, tuple[object, str]] = {
    "dsg/unreadable_dependencies": (ABSENT, IN_WORDS),
    **{
        f"paperbench/{paper}/leaf_weights/{n}": (ABSENT, SHARES)
        for paper in ("all-in-one", "rice")
        for n in (1, 2, 3)
    },
    f"{_IG}gemini_0shot/ControlNet/O/spearman_people": (0.2815, TIES),
    f"{_IG}gemini_0shot/ControlNet/without_guesses/O/spearman_people": (0.2580, TIES),
    f"{_IG}gemini_0shot/UniControl/O/spearman_people": (0.3279, TIES),
    f"{_IG}gemini_0shot/UniControl/without_guesses/O/spearman_people": (0.2925, TIES),
    f"{_IG}gemini_0shot/average_spearman/O": (0.2956, TIES),
    f"{_IG}gpt4o_0shot/ControlNet/O/spearman_people": (0.6017, TIES),
    f"{_IG}gpt4o_0shot/ControlNet/without_guesses/O/spearman_people": (0.6026, TIES),
    f"{_IG}gpt4o_0shot/UniControl/O/spearman_people": (0.6172, TIES),
    f"{_IG}gpt4o_0shot/UniControl/without_guesses/O/spearman_people": (0.6161, TIES),
    f"{_IC}gpt4v_0shot/TextualInversion/O/spearman_people": (0.3851, TIES),
    f"{_IC}gpt4v_0shot/average_spearman/O": (0.3344, TIES),
}
"""Numbers of `expected.json` that the product lacks or tells otherwise: what it says, and why."""


def _map(project: Path, name: str) -> ColumnMap:
    return read_column_map((project / "docs" / "maps" / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def truth(shared_folder: Path) -> dict[str, Any]:
    """Return the expected figures."""
    text = (shared_folder / "real" / "criteria" / "expected.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _source(shared_folder: Path, name: str) -> Path:
    return shared_folder / "real" / "criteria" / name


def _auto(
    name: str, shared_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brought]:
    place = tmp_path_factory.mktemp("store")
    with brought(place, inside(_source(shared_folder, name))) as found:
        yield found


@pytest.fixture(scope="module")
def from_dsg(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brought]:
    """DSG, by `auto`."""
    yield from _auto("dsg", shared_folder, tmp_path_factory)


@pytest.fixture(scope="module")
def from_thumb(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brought]:
    """THumB, by `auto`."""
    yield from _auto("thumb", shared_folder, tmp_path_factory)


@pytest.fixture(scope="module")
def from_ttcw(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brought]:
    """TTCW, by `auto`."""
    yield from _auto("ttcw", shared_folder, tmp_path_factory)


@pytest.fixture(scope="module")
def from_viescore(
    shared_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brought]:
    """VIEScore, by `auto`."""
    yield from _auto("viescore", shared_folder, tmp_path_factory)


@pytest.fixture(scope="module")
def from_paperbench(
    shared_folder: Path, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brought]:
    """PaperBench's two trees, by the map: a data set that is named has the same ids everywhere."""
    place = tmp_path_factory.mktemp("store")
    files = inside(_source(shared_folder, "paperbench/data/judge_eval"))
    with brought(place, files, _map(project, "paperbench")) as found:
        yield found


@pytest.fixture(scope="module")
def from_llm_rubric(
    shared_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brought]:
    """LLM-Rubric, real and synthetic dialogues together, by `auto`."""
    yield from _auto("llm_rubric", shared_folder, tmp_path_factory)


@pytest.fixture(scope="module")
def published(
    shared_folder: Path, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brought]:
    """VIEScore by a map that takes guesses for marks, as the published figures do."""
    columns = _map(project, "viescore")
    assert columns.scale is not None
    scale = columns.scale.model_copy(update={"unreadable": ()})
    files = inside(_source(shared_folder, "viescore"))
    taken = columns.model_copy(update={"scale": scale})
    with brought(tmp_path_factory.mktemp("store"), files, taken) as found:
        yield found


def _viescore(request: pytest.FixtureRequest, truth: dict[str, Any], _: Path) -> Figures:
    here, there = (request.getfixturevalue(f) for f in ("from_viescore", "published"))
    return viescore.figures(here.frame, there.frame, truth["viescore"])


def _paperbench(request: pytest.FixtureRequest, truth: dict[str, Any], folder: Path) -> Figures:
    found: Brought = request.getfixturevalue("from_paperbench")
    project, place = request.getfixturevalue("project"), request.getfixturevalue("tmp_path")
    files = inside(folder / "data" / "judge_eval")
    columns = _map(project, "paperbench").model_copy(update={"capability": "task_category"})
    with brought(place, files, columns) as by_kind:
        kinds = by_kind.frame.set_index("criterion_id").leaf.str[-1]
    return {
        paper: paperbench.figures(
            found.frame[found.frame["sample"] == paper], kinds, folder / "data/judge_eval" / paper
        )
        for paper in truth["paperbench"]
    }


def _of_source(name: str, request: pytest.FixtureRequest, truth: Any, folder: Path) -> Figures:
    match name:
        case "viescore":
            return _viescore(request, truth, folder)
        case "paperbench":
            return _paperbench(request, truth, folder)
    found: Brought = request.getfixturevalue(f"from_{name}")
    match name:
        case "dsg":
            return dsg.figures(found)
        case "thumb":
            return thumb.figures(found, folder)
        case "ttcw":
            return ttcw.figures(found, folder)
    return {part: llm_rubric.figures(found.frame, part) for part in truth[name]}


def _same(found: object, told: object) -> bool:
    if isinstance(told, float) and isinstance(found, int | float):
        return abs(float(found) - told) <= E4
    return found == told


@pytest.mark.slow
@pytest.mark.parametrize("source", ["viescore", "dsg", "thumb", "ttcw", "paperbench", "llm_rubric"])
def test_every_number_is_equal_or_named_with_a_reason(
    request: pytest.FixtureRequest, shared_folder: Path, truth: dict[str, Any], source: str
) -> None:
    """Walk all numbers of a source: none is passed over, and no exception outlives its reason."""
    told = flat(truth[source], source)
    found = flat(_of_source(source, request, truth, _source(shared_folder, source)), source)
    differ = {
        path: (found.get(path, ABSENT), number)
        for path, number in told.items()
        if not _same(found.get(path, ABSENT), number)
    }
    named = {path: said for path, (said, _) in OTHERWISE.items() if path.startswith(f"{source}/")}
    unnamed = {path: both for path, both in differ.items() if path not in named}
    assert not unnamed, f"{len(unnamed)} of {len(told)}: {list(unnamed.items())[:20]}"
    assert set(named) == set(differ), "an exception that is none any longer"
    for path, said in named.items():
        assert _same(differ[path][0], said), path
    assert not set(found) - set(told), "figures that nothing is held against"


def test_the_noise_of_a_mean_of_three_makes_the_published_ranks(published: Brought) -> None:
    """.2819 comes out where equal means are left unequal, .2815 where they tie: nothing else."""
    marks = published.frame[published.frame.model == "ControlNet"]
    wide = viescore.overall(marks)
    people = wide[~wide.judge.isin(["gemini", "gpt4o", "cogvlm", "llava"])].groupby("sample").O
    judge = wide[wide.judge == "gemini"].set_index("sample").O
    noisy = people.agg(lambda marks: np.mean(marks.tolist()))[judge.index]
    tied = people.agg(viescore.mean)[judge.index]
    assert np.abs(noisy - tied).max() < 1e-15
    assert rank_correlation(judge.to_numpy(), noisy.to_numpy()) == pytest.approx(0.2819, abs=E4)
    assert rank_correlation(judge.to_numpy(), tied.to_numpy()) == pytest.approx(0.2815, abs=E4)


def test_the_truth_has_no_other_sources(truth: dict[str, Any]) -> None:
    """A source that comes later isn't passed over."""
    assert set(truth) == {"viescore", "dsg", "thumb", "ttcw", "paperbench", "llm_rubric"}


def test_every_map_is_short_and_ships(project: Path) -> None:
    """A map has at most fifteen lines, and the shipped one is the documented one."""
    shipped = project / "atom" / "formats" / "judgments" / "maps"
    documented = {path.name for path in (project / "docs" / "maps").glob("*.yaml")}
    assert documented == {path.name for path in shipped.glob("*.yaml")} - {"signs.yaml"}
    for name in sorted(documented):
        text = (project / "docs" / "maps" / name).read_text(encoding="utf-8")
        assert text == (shipped / name).read_text(encoding="utf-8"), name
        assert len(text.splitlines()) <= 15, name
        assert read_column_map(text).has_marks


# --- traps that are no numbers --------------------------------------------------------------------


def test_dsg_drops_a_graph_of_which_a_part_is_unreadable(from_dsg: Brought) -> None:
    """`1, outside` names no criterion: the account says where, and that question has no parents."""
    notes = " ".join(from_dsg.imported.report.notes)
    assert "'1, outside'" in notes
    assert "tifa160_67" in notes
    names = {one.id: one.source_id for one in from_dsg.store.select(Sample)}
    sets = {names[one.sample_id]: one for one in from_dsg.store.select(CriteriaSet)}
    assert not any(use.parents for use in sets["tifa160_67"].uses)
    # The question that nobody answered has its criteria, and no picture is worth 0 for it.
    marks = from_dsg.frame[from_dsg.frame["sample"] == "tifa160_134"]
    assert sets["tifa160_134"].uses
    assert set(marks.kind) == {"person"}


def test_thumb_penalties_run_down_from_nothing(from_thumb: Brought) -> None:
    """-0.0 and 0 are no penalty, -0.5 is half of one; a model may be called `Human`."""
    penalties = from_thumb.frame[from_thumb.frame.penalty]
    assert set(penalties.criterion) == {"Fluency", "Inclusive language", "Conciseness"}
    none = penalties[penalties.raw.isin(["-0.0", "0.0", "0", "-0"])]
    assert len(none) > 0
    assert (none.value == 0).all()
    assert (penalties[penalties.raw == "-0.5"].value == 0.5).all()
    human = from_thumb.frame[from_thumb.frame.model == "Human"]
    assert set(human.kind) == {"person"}


def test_ttcw_blocked_replies_are_kept_and_addresses_are_no_texts(from_ttcw: Brought) -> None:
    """What was blocked stands with what it said; a story behind an address has no text."""
    frame = from_ttcw.frame
    blocked = frame[(frame.judge == "gemini-pro") & (frame.state == "unscored")]
    assert set(blocked.raw) == {"Content Blocked"}
    people = frame[frame.kind == "person"]
    assert {name: of.leaf.nunique() for name, of in people.groupby(people.leaf.str[0])} == {
        "Fluency": 5, "Flexibility": 3, "Originality": 3, "Elaboration": 3,
    }  # fmt: skip


def test_viescore_guesses_are_no_numbers(from_viescore: Brought) -> None:
    """Every reply of one judge could not be read: nothing of it is a mark, all of it is kept."""
    cogvlm = from_viescore.frame[from_viescore.frame.judge == "cogvlm"]
    assert len(cogvlm) == 29 + 31 + 150 + 150
    assert cogvlm.value.isna().all()
    assert cogvlm.reason.str.startswith("guess_if_cannot_parse").all()


@pytest.mark.slow
def test_llm_rubric_says_what_is_doubtful(shared_folder: Path, tmp_path: Path) -> None:
    """One question's marks run against all others, and the account says so."""
    with brought(tmp_path, inside(_source(shared_folder, "llm_rubric/data/real_data"))) as found:
        notes = found.imported.report.notes
    assert any(note.startswith("a high mark of 'Q8' may be a bad one") for note in notes), notes
