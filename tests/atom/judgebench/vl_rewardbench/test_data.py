"""VL-RewardBench's files: every layout reads the same, and every trap is named."""

import base64
import io
import json

import pandas as pd
import pytest
from PIL import Image

from atom.errors import UsageError
from atom.formats import ImportFile
from atom.formats.pictures import MemoryPictures
from atom.judgebench.base import LoadOptions
from atom.judgebench.vl_rewardbench.data import (
    answer_length,
    category_of,
    error_tags,
    load,
)


def png(colour="white"):
    out = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(out, format="PNG")
    return out.getvalue()


def row(number=1, **more):
    return {
        "id": f"RLAIF-V-{number}",
        "query": "<image>\nWhat is there?",
        "response": ["A cat.", "A dog on a mat."],
        "image": "images/a.png",
        "human_ranking": [0, 1],
        "models": ["m", "n"],
        "judge": "human",
        "rationale": "placeholder_rationale",
        "query_source": "COCO",
        "ground_truth": "",
        **more,
    }


def lines(*rows):
    return "".join(json.dumps(one) + "\n" for one in rows).encode()


def read(*rows, columns=None, limit=None, name="rows.jsonl", data=None):
    file = ImportFile.from_bytes(name, lines(*rows) if data is None else data)
    pictures = MemoryPictures({"images/a.png": png()})
    return load(
        [file], LoadOptions(set_id="s", columns=columns or {}, pictures=pictures, limit=limit)
    )


def test_a_published_row_becomes_an_item():
    loaded = read(row(), row(2, human_ranking=[1, 0], id="mathverse_2"))
    first, second = loaded.items
    assert first.data["query"] == "What is there?"
    assert first.data["responses"] == ["A cat.", "A dog on a mat."]
    assert (first.data["better"], second.data["better"]) == ("a", "b")
    assert (first.data["category"], second.data["category"]) == ("hallucination", "reasoning")
    assert first.data["models"] == ["m", "n"]
    assert "rationale" not in first.data  # a placeholder says nothing
    assert first.pictures[0].picture_id == loaded.pictures[0].id
    assert len(loaded.pictures) == 1
    assert [item.position for item in loaded.items] == [0, 1]
    assert not loaded.skipped


def test_pictures_may_be_names_bytes_or_base64():
    text = base64.b64encode(png("red")).decode()
    cells = ["images/a.png", text, f"data:image/png;base64,{text}", {"bytes": text, "path": "x"}]
    loaded = read(*(row(n, image=cell) for n, cell in enumerate(cells)))
    assert all(item.pictures[0].picture_id for item in loaded.items)
    assert len(loaded.pictures) == 2


def test_the_repository_layout_names_a_path_and_kinds_of_error():
    old = row(image_path="images/rlaif-v/a.png", human_error_analysis=["recognition(text)"])
    del old["image"]
    loaded = read({**old, "meta": {"note": "x"}})
    assert loaded.items[0].data["tags"] == ["recognition", "recognition: text"]
    assert loaded.items[0].pictures[0].picture_id


def test_csv_and_parquet_read_like_json_lines():
    expected = read(row()).items
    frame = pd.DataFrame([row()])
    spelled = frame.assign(human_ranking=["[0 1]"], response=["['A cat.' 'A dog on a mat.']"])
    csv = read(name="rows.csv", data=spelled.to_csv(index=False).encode())
    parquet_rows = frame.assign(image=[{"bytes": png(), "path": "images/a.png"}])
    parquet = read(name="rows.parquet", data=parquet_rows.to_parquet())
    whole = read(name="rows.json", data=json.dumps([row()]).encode())
    assert csv.items == parquet.items == whole.items == expected


def test_another_table_comes_in_by_a_column_map():
    other = {"uid": 7, "q": "Who?", "good": "Ann.", "bad": "Bob.", "img": "images/a.png",
             "kind": "Reasoning"}  # fmt: skip
    columns = {"id": "uid", "query": "q", "chosen": "good", "rejected": "bad", "image": "img",
               "category": "kind"}  # fmt: skip
    item = read(other, columns=columns).items[0]
    assert (item.data["id"], item.data["better"], item.data["category"]) == ("7", "a", "reasoning")
    two = {"id": "x", "query": "q", "response_a": "A", "response_b": "B", "better": "model_b",
           "image": "images/a.png"}  # fmt: skip
    assert read(two).items[0].data["better"] == "b"
    with pytest.raises(UsageError, match="nonsense"):
        read(other, columns={"nonsense": "q"})


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ({"id": None}, "no id"),
        ({"query": "  "}, "no question"),
        ({"response": ["one"]}, "1 answers"),
        ({"response": ["a", "b", "c"]}, "3 answers"),
        ({"response": "one text"}, "no list"),
        ({"response": ["a", None]}, "two answers with text"),
        ({"response": ["same", "same "]}, "the same"),
        ({"human_ranking": [0, 0]}, "human_ranking"),
        ({"human_ranking": [1, 2]}, "human_ranking"),
        ({"human_ranking": [0, float("nan")]}, "human_ranking"),
        ({"human_ranking": None}, "nothing says which answer is better"),
        ({"human_ranking": {"a": 1}}, "human_ranking"),
    ],
)
def test_what_cannot_be_used_is_named_and_counted(broken, why):
    loaded = read(row(1, **broken), row(2))
    assert len(loaded.items) == 1
    assert len(loaded.skipped) == 1
    assert loaded.skipped[0].startswith("rows.jsonl line 1: ")
    assert why in loaded.skipped[0]
    assert any("left out: 1 of 2 rows" in note for note in loaded.notes)


def test_a_pair_counts_once_and_an_id_may_stand_for_two():
    loaded = read(row(1), row(1), row(1, response=["Other.", "Answers."]))
    assert len(loaded.items) == 2
    assert "stood before, at rows.jsonl line 1" in loaded.skipped[0]
    assert any("1 row with a pair that stood before" in note for note in loaded.notes)
    assert any("same id" in note for note in loaded.notes)
    assert len({item.id for item in loaded.items}) == 2


def test_broken_lines_missing_pictures_and_limits_are_told():
    data = lines(row(1, image="nowhere.png"), row(2, image=None)) + b'{"id": "x", "que'
    loaded = read(data=data)
    assert len(loaded.items) == 2
    assert all(slot.picture_id is None for item in loaded.items for slot in item.pictures)
    assert any("pictures that weren't found: 2" in note for note in loaded.notes)
    assert "breaks off" in loaded.skipped[0]
    assert len(read(row(1), row(2), row(3), limit=2).items) == 2


def test_categories_go_by_the_id():
    ids = {
        "RLAIF-V-14": "hallucination",
        "RLHF-V-2": "hallucination",
        "hallucination_pair-3": "hallucination",
        "mathverse_2028": "reasoning",
        "mmmu_pro_test_Art_1": "reasoning",
        "wildvision-battle-3": "general",
        "LRVInstruction-000000007746": "general",
    }
    assert {name: category_of(name) for name in ids} == ids


def test_error_types_are_the_papers_five():
    assert error_tags(["hallucination", "counting"]) == ("existence", "counting")
    assert error_tags("['attribute']") == ("attribute",)
    assert error_tags(["others, common sense, banana's orgin"]) == ("other",)
    assert error_tags(None) == error_tags("") == error_tags([None]) == ()


def test_words_are_counted_in_scripts_without_spaces():
    assert answer_length("two words") == 2
    assert answer_length("描述 it") == 3
