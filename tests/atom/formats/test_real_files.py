"""Every file in the shared folder of real data, whole, cut and broken."""

from __future__ import annotations

import csv
import json
import random
import re
import zipfile
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.engine.imports.importing import import_reading
from atom.errors import AtomError, FormatError
from atom.formats import FORMATS, ImportFile, account_of, dry_run, read
from atom.records import (
    Annotation,
    Import,
    Outcome,
    Preference,
    Response,
    Sample,
    Study,
    Tag,
    Verdict,
)
from atom.store import Store
from tests.conftest import SHARED

REAL = SHARED / "real"
NO_DATA = {".md", ".png", ".jpg", ".jpeg"}
FILES = sorted(
    path.relative_to(REAL).as_posix()
    for path in (REAL.rglob("*") if REAL.is_dir() else ())
    if path.is_file()
    and path.suffix not in NO_DATA
    and path.name != "expected.json"
    # Judgments criterion by criterion, and servers: no importer is meant to read these.
    and path.relative_to(REAL).parts[0] != "criteria"
    and path.relative_to(REAL).parts[:2] != ("cases", "servers")
)
REFUSED = {
    "cases/logs/15-batch-responses-api/output": "name the file of requests",
    "cases/logs/25-lmms-eval-empty-answers/20260801_100000_results": "name the log",
    "criticeval": "judge lab",
    "evaltree": "read it as a tree|import the table with the questions",
    "inspect/log_with_nan.txt": "log-samples",
    "lmms_eval/liuhaotian__llava-v1.5-7b/20260218_234435_results.json": "name the log",
    "mathvista/scores_": "name an output_",
    "mllm_bench/vote_counts": "name questions.json",
    "mllm_bench/votes.csv": "name questions.json",
    "pandalm/gpt-3.5": "name testset-v1.json",
    "pandalm/pandalm-7b": "name testset-v1.json",
    "vicuna80/rule.json": "name questions",
    "vlmevalkit/.*(score|acc)": "name the sheet",
    "wildvision/published": "name the verdicts",
}
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
KINDS = {
    "questions": Sample,
    "answers": Response,
    "verdicts": Outcome,
    "groups": Tag,
    "votes": Preference,
    "marks": Verdict,
    "labels": Annotation,
}


def refusal(name: str) -> str | None:
    return next((part for start, part in REFUSED.items() if re.match(start, name)), None)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES or ["absent"])
def test_every_real_file_comes_in_or_is_refused_with_advice(name, shared_folder):
    file = ImportFile.from_path(shared_folder / "real" / name)
    if name.startswith(("criteria/", "cases/")):
        survives(None, file)  # judgments and small cases: read, or refused in words
        return
    part = refusal(name)
    if part is not None:
        with pytest.raises(FormatError, match=part):
            dry_run(read(None, [file]))
        return
    report = dry_run(read(None, [file], limit=150))
    assert report.samples > 0
    assert report.n_skipped <= 2, report.skipped


def in_file(path) -> int | None:
    """Count a file's entries without our readers; None where that isn't plain."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return sum(any(cell.strip() for cell in row) for row in csv.reader(stream)) - 1
    if path.suffix == ".jsonl":
        return sum(bool(line.strip()) for line in path.read_text("utf-8").splitlines())
    if path.suffix == ".json":
        content = json.loads(path.read_text("utf-8"))
        if isinstance(content, list):
            return len(content)
        return None if "eval" in content else len(content)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES or ["absent"])
def test_the_account_of_every_real_file_adds_up(name, shared_folder, tmp_path):
    path = shared_folder / "real" / name
    try:
        reading = read(None, [ImportFile.from_path(path)])
        with Store.open(tmp_path / "s") as store:
            brought = import_reading(store, reading, "Real", MOMENT, accept=True)
            stored = {item: len(store.select(kind)) for item, kind in KINDS.items()}
    except AtomError:
        return  # what is refused has no account; the test above says with which advice
    account = account_of(brought.record)
    assert account.adds_up
    rows = account.of("rows")
    assert rows.read == (in_file(path) or rows.read)
    for item, n in stored.items():
        tally = account.of(item)
        assert tally.came_in == n or (item == "verdicts" and tally.came_in <= n), item
        assert tally.known == 0


def broken(data: bytes, seed: int) -> bytes:
    """Cut a file, or change, drop, double or swap pieces of it."""
    draw = random.Random(seed)
    way = draw.randrange(5)
    at = draw.randrange(max(1, len(data)))
    size = min(len(data) - at, draw.choice([1, 3, 40, 1000]))
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + draw.randbytes(size) + data[at + size :]
    if way == 2:
        return data[:at] + data[at + size :]
    if way == 3:
        return data[: at + size] + data[at:]
    junk = draw.choice([b"NaN", b"null", b"[[[[", b'"', b"\xff\xfe\x00", b"1e999", b"{}", b"\n"])
    return data[:at] + junk + data[at:]


ODD = (
    None, True, -1, 0.5, 10**30, float("nan"), float("inf"), "", " ", "NaN", "\x00", "\ud800", [],
    {}, [None], [[[]]], {"a": {"b": []}}, ["x", 1], "x" * 3000, {"bytes": 7}, "../../etc/passwd",
    "data:image/png;base64,AAAA", "[1, 2", "{'a': 1}",
)  # fmt: skip
"""Values that no one expects."""


def twisted(value: object, draw: random.Random, share: float = 0.04) -> object:
    """Replace some values inside by odd ones, and drop or rename some keys."""
    if draw.random() < share:
        return draw.choice(ODD)
    if isinstance(value, dict):
        kept = {}
        for key, item in value.items():
            fate = draw.random()
            if fate < share / 2:
                continue
            kept[key.upper() if fate > 1 - share / 2 else key] = twisted(item, draw, share)
        return kept
    if isinstance(value, list):
        return [twisted(item, draw, share) for item in value]
    return value


def twist(data: bytes, seed: int) -> bytes:
    """Twist a file's values, its form being kept: rows and cells stay where they are."""
    draw = random.Random(seed)
    text = data.decode("utf-8", "replace")
    try:
        return json.dumps(twisted(json.loads(text), draw)).encode()
    except ValueError:
        pass
    lines = []
    for line in text.splitlines():
        try:
            lines.append(json.dumps(twisted(json.loads(line), draw)))
        except ValueError:
            cells = line.split(",")
            odd = [str(draw.choice(ODD)) if draw.random() < 0.04 else cell for cell in cells]
            lines.append(",".join(odd) if lines else line)
    return "\n".join(lines).encode("utf-8", "replace")


def survives(chosen: str | None, file: ImportFile) -> None:
    """Read a file to its end, or be told in words why not."""
    try:
        report = dry_run(read(chosen, [file]))
    except AtomError as error:
        told = error.message
    else:
        told = f"{report.rows} rows of {report.format}"
    assert len(told) > 12


@settings(max_examples=8)
@given(seed=st.integers(0, 10**9))
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_broken_files_never_break_a_format(name, seed):
    """Whatever is wrong with a file, each format takes what it can or says why not."""
    draw = random.Random(seed)
    for data, title in SMALL.get(name, ()):
        hurt = data
        for step in range(draw.randint(1, 4)):
            hurt = broken(hurt, seed + step)
        survives(draw.choice([name, None]), ImportFile.from_bytes(title, hurt))


@settings(max_examples=12)
@given(seed=st.integers(0, 10**9))
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_odd_values_never_break_a_format(name, seed):
    for data, title in SMALL.get(name, ()):
        if not data.startswith(b"PK"):
            survives(name, ImportFile.from_bytes(title, twist(data, seed)))


def small(path, most=6_000):
    """Keep the beginning of a real file: whole entries of JSON, whole lines of text."""
    data = path.read_bytes()
    if zipfile.is_zipfile(path) or len(data) < most:
        return data
    if path.suffix == ".json":
        return json.dumps(_first(json.loads(data))).encode()
    head = data[:most]
    return head[: head.rfind(b"\n") + 1] or data[: data.find(b"\n") + 1]


def _first(value, most=4):
    """Keep the first entries of lists and of objects with many."""
    if isinstance(value, list):
        return [_first(item) for item in value[:most]]
    if isinstance(value, dict):
        pairs = list(value.items())
        return {key: _first(item) for key, item in (pairs if len(pairs) < 40 else pairs[:most])}
    return value


def _small_files():
    wanted = {
        "hallusionbench": ["hallusionbench/HallusionBench_result_sample.json"],
        "image-edit": ["image_edit_judge/human_ratings.csv",
                       "image_edit_judge/judge_all_main.jsonl"],
        "inspect": ["inspect/log_read_sample.eval", "inspect/log_images.json",
                    "inspect/log_with_nan.txt", "images_qa/inspect/images.jsonl"],
        "judgments": ["criteria/thumb/mscoco/mscoco_THumB-1.0.jsonl"],
        "lmms-eval": [f"lmms_eval/liuhaotian__llava-v1.5-7b/20260218_234435_{end}" for end in
                      ("results.json", "samples_scienceqa_img.jsonl")],
        "mathvista": ["mathvista/output_bard.json", "mathvista/scores_bard.json"],
        "metacritique": ["metacritique/annotation_data_first67.json"],
        "mllm-bench": ["mllm_bench/questions.json", "mllm_bench/votes.csv"],
        "mllm-judge": ["mllm_judge/batch_lite_2rows.jsonl", "mllm_judge/pair_lite_4rows.jsonl",
                       "mllm_judge/score_gpt-4v_2rows.jsonl"],
        "mm-vet": ["mm_vet/llava_llama2_13b_chat.json"],
        "mmmu": ["mmmu/answer_dict_val.json", "mmmu/llava1.5_13b_raw/Art.json",
                 "mmmu/mmmu-pro_gpt-4o_standard10_direct.jsonl"],
        "multimodal-rewardbench": ["multimodal_rewardbench/example.jsonl"],
        "pandalm": ["pandalm/testset-v1.json"],
        "prometheus": ["prometheus/mt_bench_eval_first160.json"],
        "reviews": ["vicuna80/review_bard_vicuna-13b.jsonl", "vicuna80/answer_bard.jsonl"],
        "table": ["images_qa/vlms_are_biased/examples.json", "vlrmbench/image_ref_error.jsonl"],
        "vlmevalkit": ["vlmevalkit/instructblip_7b_MMVet_gpt4_score.xlsx",
                       "vlmevalkit/vila_8b_POPE_score.csv"],
        "wildvision": ["wildvision/judgements_llava-1.5-7b-hf.jsonl", "wildvision/scores.csv",
                       "wildvision/published_leaderboard.csv"],
    }  # fmt: skip
    found = {
        name: [(small(REAL / path), path.rsplit("/", 1)[-1]) for path in paths]
        for name, paths in wanted.items()
        if REAL.is_dir()
    }
    found.setdefault("vlmevalkit", []).append(
        (
            b'[{"index": 0, "question": "Q?", "A": "x", "B": "y", "answer": "B", "category": "a,b",'
            b' "image_path": "[\'0.jpg\']", "prediction": "B", "extracted": "Yes", "score": true},'
            b' {"index": 1, "question": "R?", "image": "0", "prediction": "A", "hit": 0}]',
            "m_MME_result.json",
        )
    )
    found["promptfoo"] = [
        (
            b'{"evalId": "e", "results": {"version": 3, "results": [{"promptIdx": 0, "testIdx": 0, '
            b'"provider": {"id": "p"}, "prompt": {"raw": "Q?"}, "vars": {"a": "b"}, "response": '
            b'{"output": "x"}, "success": true, "score": 1, "gradingResult": {"pass": true}}]}}',
            "out.json",
        )
    ]
    found["openai-batch"] = [
        (
            b'{"custom_id": "a", "method": "POST", "url": "/v1", "body": {"model": "m", "messages":'
            b' [{"role": "user", "content": [{"type": "text", "text": "Q?"}]}]}}\n'
            b'{"custom_id": "b", "method": "POST", "url": "/v1", "body": {"model": "m", "messages":'
            b' [{"role": "user", "content": "R?"}]}}\n',
            "in.jsonl",
        ),
        (
            b'{"id": "r", "custom_id": "a", "response": {"status_code": 200, "body": {"model": "m",'
            b' "choices": [{"message": {"content": "x"}}]}}, "error": null}\n',
            "out.jsonl",
        ),
    ]
    found["evalscope"] = [
        (
            b'{"index": 0, "input": "**User**: \\nQ?", "target": "4", "sample_score": {"score": '
            b'{"value": {"acc": 1.0}, "prediction": "4"}, "sample_id": 0, "group_id": 0}}\n',
            "bench_test.jsonl",
        ),
        (
            b'{"index": 0, "model": "m", "messages": [{"role": "user", "content": "Q?"}], '
            b'"model_output": {"choices": [{"message": {"content": "4"}}]}}\n',
            "bench_test.jsonl",
        ),
    ]
    found["every-eval-ever"] = [
        (
            b'{"evaluation_id": "e", "model_id": "m", "sample_id": "a", "interaction_type": "x", '
            b'"input": {"raw": "Q?", "reference": ["B"], "choices": ["r", "b"]}, "output": {"raw": '
            b'["b"]}, "evaluation": {"score": 1.0, "is_correct": true}}\n',
            "records.jsonl",
        )
    ]
    return found


SMALL = _small_files()


def test_every_format_is_broken_here():
    assert not REAL.is_dir() or SMALL.keys() == FORMATS.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["pandalm/testset-v1.json", "inspect/log_read_sample.eval", "mmmu/answer_dict_val.json"]
)
def test_a_broken_file_is_imported_wholly_or_not_at_all(tmp_path, shared_folder, name):
    data = small(shared_folder / "real" / name, 12_000)
    for seed in range(6):
        with Store.open(tmp_path / str(seed)) as store:
            file = ImportFile.from_bytes(name.rsplit("/", 1)[-1], broken(data, seed))
            try:
                brought = import_reading(store, read(None, [file]), "Broken", MOMENT, accept=True)
            except AtomError:
                assert store.select(Sample) == store.select(Study) == store.select(Import) == []
            else:
                assert len(store.select(Sample)) == brought.report.samples
