import base64
import io
import json

import pytest
from PIL import Image

from atom.errors import FormatError
from atom.formats.base import ImportFile
from atom.formats.pictures import MemoryPictures
from atom.judgebench.base import LoadOptions
from atom.judgebench.multi_crit.figures import measure
from atom.judgebench.multi_crit.files import load, pair_of
from atom.judgebench.multi_crit.replies import read_critic, read_replies
from tests.exported import multi_crit_rows


def png():
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, format="PNG")
    return buffer.getvalue()


def row(criterion="efficiency", preference="model_a", stem="visualPuzzles__select-1", **more):
    return {
        "question_id": f"{stem}__{criterion}",
        "image_path": "images/1.png",
        "question": "Which piece fits?",
        "pred_a": "The red one.",
        "pred_b": "Looking at the corner, the blue one.",
        "model_a": "gpt-4o",
        "model_b": "qwen",
        "split": "reasoning",
        "criterion": criterion,
        "preference": preference,
        "prompt_id": "p1",
        **more,
    }


def lines(rows, name="multi-crit-reasoning-flatten.jsonl"):
    return ImportFile.from_bytes(name, "".join(f"{json.dumps(one)}\n" for one in rows).encode())


def read(rows, name="multi-crit-reasoning-flatten.jsonl", **options):
    finder = MemoryPictures({"images/1.png": png()})
    return load([lines(rows, name)], LoadOptions(set_id="set", pictures=finder, **options))


def labels(loaded):
    return [{one.key: one.label for one in pair_of(item).criteria} for item in loaded.items]


def test_rows_of_one_pair_become_one_item():
    found = read([row(), row("logic", "model_b"), row(stem="visualPuzzles__select-2")])
    assert labels(found) == [{"efficiency": "a", "logic": "b"}, {"efficiency": "a"}]
    pair = pair_of(found.items[0])
    assert (pair.split, pair.models) == ("reasoning", ("gpt-4o", "qwen"))
    assert pair.criteria[0].row == "visualPuzzles__select-1__efficiency"
    assert found.items[0].pictures[0].picture_id == found.pictures[0].id
    assert (found.skipped, found.notes) == ((), ())
    assert [item.position for item in found.items] == [0, 1]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"preference": None}, "no 'preference'"),
        ({"preference": "tie"}, "tie"),
        ({"preference": "both good"}, "model_a or model_b is expected"),
        ({"criterion": ""}, "no 'criterion'"),
        ({"criterion": "/"}, "no word"),
        ({"pred_b": "  "}, "no 'pred_b'"),
        ({"question": float("nan")}, "no 'question'"),
        ({"pred_a": "Another answer."}, "aren't those of the other rows"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(broken, reason):
    found = read([row("logic"), {**row(), **broken}])
    assert labels(found) == [{"logic": "a"}]
    assert len(found.skipped) == 1
    assert reason in found.skipped[0]
    assert "line 2" in found.skipped[0]


def test_a_repeated_row_counts_once_and_a_contradicted_one_not_at_all():
    same = read([row("logic"), row(), row()])
    assert labels(same) == [{"logic": "a", "efficiency": "a"}]
    assert "repeats" in same.skipped[0]
    clash = read([row("logic"), row(), row(preference="model_b"), row()])
    assert labels(clash) == [{"logic": "a"}]
    assert [("contradicting" in line) for line in clash.skipped] == [True, True]
    alone = read([row(), row(preference="model_b")])
    assert alone.items == ()
    assert "no criterion of this pair" in alone.skipped[-1]


def test_a_row_with_its_answers_the_other_way_round_is_turned():
    first = row("logic")
    turned = {**row(), "pred_a": first["pred_b"], "pred_b": first["pred_a"]}
    found = read([first, turned])
    assert labels(found) == [{"logic": "a", "efficiency": "b"}]
    assert "turned" in found.notes[0]


def test_preferences_may_name_the_model_when_the_models_differ():
    assert labels(read([row(preference="qwen"), row("logic", "B")])) == [
        {"efficiency": "b", "logic": "b"}
    ]
    same = read([row(preference="qwen", model_a="qwen", model_b="qwen"), row("logic")])
    assert len(same.skipped) == 1


def test_pairs_without_the_published_ids_are_told_by_their_content():
    bare = [{k: v for k, v in one.items() if k not in ("question_id", "split", "prompt_id")}
            for one in (row(), row("logic", "model_b"))]  # fmt: skip
    found = read(bare, "multi-crit-openEnded-flatten.jsonl")
    assert labels(found) == [{"efficiency": "a", "logic": "b"}]
    assert pair_of(found.items[0]).split == "open_ended"
    assert pair_of(read(bare, "mine.jsonl").items[0]).split == ""


def test_other_files_are_read_with_a_column_map():
    other = {**row(), "winner": "A"}
    del other["preference"]
    assert labels(read([other], columns={"preference": "winner"})) == [{"efficiency": "a"}]
    with pytest.raises(FormatError, match="'verdict'"):
        read([other], columns={"verdict": "winner"})


def test_a_table_in_csv_is_read_and_broken_lines_are_named():
    text = "question,pred_a,pred_b,criterion,preference\nQ?,x,y,logic,model_b\n"
    found = load([ImportFile.from_bytes("t.csv", text.encode())], LoadOptions(set_id="s"))
    assert labels(found) == [{"logic": "b"}]
    assert any("no picture" in note for note in found.notes)
    half = ImportFile.from_bytes("t.jsonl", json.dumps(row()).encode() + b'\n{"question_id": "x')
    cut = load([half], LoadOptions(set_id="s"))
    assert (len(cut.items), len(cut.skipped)) == (1, 1)


@pytest.mark.parametrize(
    "image",
    [
        base64.b64encode(png()).decode(),
        f"data:image/png;base64,{base64.b64encode(png()).decode()}",
        {"bytes": base64.b64encode(png()).decode(), "path": "x.png"},
        [{"path": "images/1.png", "bytes": None}],
    ],
)
def test_pictures_come_in_every_form(image):
    found = read([row(image=image, image_path=None)])
    assert found.items[0].pictures[0].picture_id == found.pictures[0].id


def test_a_picture_that_is_missing_is_counted_and_its_pair_kept():
    found = read([row(image_path="images/2.png")])
    assert found.items[0].pictures[0].picture_id is None
    assert any("isn't there" in note for note in found.notes)
    # A broken picture in the cell gives way to the path.
    both = read([row(image={"bytes": "bm90IGEgcGljdHVyZQ==", "path": "no.png"})])
    assert both.items[0].pictures[0].picture_id is not None


def test_the_limit_counts_pairs():
    found = read([row(), row("logic", "model_b"), row(stem="other__select-2")], limit=1)
    assert labels(found) == [{"efficiency": "a", "logic": "b"}]


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("Because of this.\n\nResponse 1 is better.", 1),
        ("**Response 2 is better.**\n\n", 2),
        ("Response 1 is better in tone.\na\nb\nc", None),
        ("At first Response 1 is better.\nNo: Response 2 is the better one.", 2),
        ("<think>Response 1 is better.</think>\nresponse 2 is better", 2),
        ("Response 12 is better.", None),
        ("Response 1 is not better.", None),
        ("They are equal.", None),
        ("", None),
    ],
)
def test_the_last_three_lines_hold_the_verdict(text, side):
    assert read_critic(text) == side


def replies(items, *files):
    named = [lines(rows, f"run-{number}.jsonl") for number, rows in enumerate(files)]
    return read_replies(named, items, "someone")


def test_replies_made_elsewhere_become_verdicts():
    items = read([row(), row("logic", "model_b")]).items
    first = row(critic="...\nResponse 1 is better.")
    second = {**row("logic", "model_b"), "critic": "Hard to say."}
    found = replies(items, [first, second, row("clarity"), row(), first])
    assert [(v.state, v.label, v.part) for v in found.verdicts] == [
        ("scored", "a", "single/efficiency"),
        ("unscored", "", "single/logic"),
    ]
    assert [line.split(": ", 1)[1] for line in found.skipped] == [
        "it belongs to no row of this set",
        "it has no 'critic'",
        "it repeats 'visualPuzzles__select-1__efficiency'",
    ]
    assert "1 of 2 replies hold no verdict" in found.notes[-1]
    result = measure(items, found.verdicts)
    rows = {(one.metric, one.rule): one for one in result.headline}
    assert rows["criterion_accuracy_micro", "strict"].value == 50
    assert rows["criterion_accuracy_micro", "readable only"].value == 100


def test_a_reply_to_swapped_answers_is_turned():
    items = read([row()]).items
    turned = {**row(), "pred_a": row()["pred_b"], "pred_b": row()["pred_a"],
              "critic": "Response 1 is better."}  # fmt: skip
    stated = row(critic="Response 1 is better.", order="ba")
    for one in (turned, stated):
        verdict = replies(items, [one]).verdicts[0]
        assert (verdict.label, verdict.order) == ("b", "ba")


def test_each_file_is_one_more_vote():
    items = read([row()]).items
    said = [[row(critic=f"Response {n} is better.")] for n in (1, 1, 2)]
    found = replies(items, *said)
    assert [v.repeat for v in found.verdicts] == [0, 1, 2]
    assert len({v.key for v in found.verdicts}) == 3
    told = replies(items, [row(critic="Response 1 is better.", repeat=n) for n in (0, 1, 1)])
    assert [v.repeat for v in told.verdicts] == [0, 1]
    assert len(told.skipped) == 1


def test_exported_replies_come_back_the_same():
    items = read([row(), row("logic", "model_b")]).items
    rows = [row(critic="It is short.\nResponse 2 is better.", repeat=n, order=order)
            for n, order in ((0, "ab"), (1, "ba"))]  # fmt: skip
    rows.append({**row("logic", "model_b"), "critic": "No idea.", "part": "joint"})
    first = replies(items, rows).verdicts
    again = replies(items, multi_crit_rows(items, first)).verdicts
    assert [(v.key, v.state, v.label, v.part, v.order) for v in again] == [
        (v.key, v.state, v.label, v.part, v.order) for v in first
    ]
