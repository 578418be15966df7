"""A real study with the tree that it begins with: no leaf of the probe world anywhere.

The judge is scripted: it hangs every checkpoint on a leaf that it was offered, in turn, so that
whatever the study is offered comes to the screens.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from PIL import Image

from atom.cli.main import main
from atom.engine.imports.attaching import attach_pictures, missing_pictures
from atom.engine.imports.importing import import_reading
from atom.engine.study.spec import RunSpec
from atom.engine.work import run
from atom.formats import ImportFile, read
from atom.formats.picture_stock import stock_of
from atom.judge import JudgeClient
from atom.records import Endpoint, Mapping
from atom.store import Store, list_studies
from taxonomy import load_anchors, load_general

KINDS = frozenset({"VQA-RAD", "PMC-VQA", "ParsVQA-Caps", "VizWiz", "VQA2.0"})
"""Sources within MathVista that ask about scans, captions and photographs."""
BOX = re.compile(r"BEGIN DATA\s*(\{.*\})\s*END DATA", re.DOTALL)


class Scripted(httpx2.AsyncBaseTransport):
    """Answers each stage of the loop in its form, from what the stage was given."""

    def __init__(self) -> None:
        self.turn = itertools.count()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        asked = json.loads(await request.aread())
        text = json.dumps(getattr(self, self._stage(asked))(self._data(asked)))
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
        return httpx2.Response(200, json={**reply, "choices": [choice]}, request=request)

    @staticmethod
    def _stage(asked: dict) -> str:
        return asked["response_format"]["json_schema"]["name"].removeprefix("atomscope_")

    @staticmethod
    def _data(asked: dict) -> dict:
        parts = asked["messages"][-1]["content"]
        text = parts if isinstance(parts, str) else parts[-1]["text"]
        return json.loads(BOX.search(text)[1])

    def replay(self, data: dict) -> dict:
        steps = [{"text": f"Step {n}.", "regions": []} for n in range(3)]
        return {"looking": "", "steps": steps, "final_answer": data["reference_answer"]}

    def criteria(self, data: dict) -> dict:
        made = [
            {"question": f"What is seen in step {n}?", "ground_truth": f"thing {n}", "step": n,
             "regions": [], "weight": weight}
            for n, weight in ((1, 3), (2, 3), (3, 4))
        ]  # fmt: skip
        return {"conflict": "", "criteria": made}

    def mapping(self, data: dict) -> dict:
        offered = list(data["leaves"])
        return {
            "mappings": [
                {"id": one["id"], "leaf": offered[next(self.turn) % len(offered)]}
                for one in data["criteria"]
            ]
        }

    def scoring(self, data: dict) -> dict:
        marks = [
            {"id": one["id"], "quote": "", "reason": "Fits.", "addressed": True,
             "score": 2 + n % 4, "carried": False}
            for n, one in enumerate(data["criteria"])
        ]  # fmt: skip
        return {"scores": marks}

    def outcome(self, data: dict) -> dict:
        return {"right": True, "reason": "Fits."}


@pytest.fixture(scope="module")
def judged(shared_folder, tmp_path_factory):
    """Import a model's answers to questions about scans and photographs; have them judged."""
    folder = tmp_path_factory.mktemp("scans")
    rows = json.loads((shared_folder / "real/mathvista/output_bard.json").read_text("utf-8"))
    place = folder / "output_bard.json"
    chosen = {k: row for k, row in rows.items() if row["metadata"]["source"] in KINDS}
    place.write_text(json.dumps(chosen), encoding="utf-8")
    judge = Endpoint(
        name="scripted", base_url="http://127.0.0.1:1/v1", model="scripted", roles=("judge",)
    )
    script = Scripted()

    def client(endpoint, spend, pictures):
        return JudgeClient(endpoint, spend=spend, pictures=pictures, transport=script)

    with Store.open(folder / "store") as store:
        import_reading(
            store,
            read(None, [ImportFile.from_path(place)]),
            "Scans",
            datetime(2026, 1, 1, tzinfo=UTC),
        )
        (study,) = list_studies(store)
        draw_plain(folder / "images", [one.place.name for one in missing_pictures(store, study.id)])
        attach_pictures(store, study, stock_of([folder / "images"]))
        spec = RunSpec(study_id=study.id, judge="scripted", candidates=(), show_reference=True)
        asyncio.run(run(store, spec, {"scripted": judge}, make=client))
    return folder / "store"


def draw_plain(place: Path, names: list[str]) -> None:
    """Write a picture of one colour under each name: the scans themselves didn't come along."""
    place.mkdir()
    for shade, name in enumerate(names):
        Image.new("RGB", (8, 8), (shade, 128, 128)).save(place / Path(name).name)


GENERAL = {name for leaf in load_general().leaves for name in leaf}
PROBES = {leaf[-1] for leaf in load_anchors().leaves} - GENERAL
"""Names of leaves that only the probe world's tree has."""


def said(names: set[str], text: str) -> set[str]:
    """Return the names that stand in a text as the whole of an element, a cell or a path's end."""
    return {n for n in names if re.search(rf"[>,›/\"]\s*{re.escape(n)}\s*[<,›/\"\n]", text)}


@pytest.mark.slow
def test_what_a_real_study_hangs_on_are_general_abilities(judged):
    with Store.open(judged) as store:
        leaves = {one.leaf for one in store.select(Mapping)}
    assert leaves == set(load_general().leaves)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["tree", "fingerprints"])
def test_no_page_names_a_leaf_of_the_probe_world(open_app, judged, page):
    seen = open_app(judged, page=f"pages/explore/{page}.py")
    assert not seen.test.exception
    assert said(GENERAL, seen.markup)
    assert not said(PROBES, seen.markup)


def test_no_table_names_a_leaf_of_the_probe_world(judged, tmp_path):
    wanted = ["export", "csv", "--study", "Scans", "--store", str(judged), "--out"]
    assert main([*wanted, str(tmp_path / "tables")]) == 0
    text = "\n".join(file.read_text(encoding="utf-8") for file in tmp_path.rglob("*.csv"))
    assert {leaf[-1] for leaf in load_general().leaves} <= said(GENERAL, text)
    assert not said(PROBES, text)
