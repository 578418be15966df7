"""Record what the probe endpoint replies to the twenty questions: `python -m tests.atom.asked...`.

Run as `python -m tests.atom.asked.record_replies`; it writes `replies.json` beside this file. The
replies are the raw text that came over the client, as the store keeps it.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from atom.engine.asked import ask as asking
from atom.judge.servers.endpoints import builtin_endpoints
from atom.records import Call
from atom.store import Store, find_study, list_studies
from atom.views.asked import vocabulary_of
from atom.views.study_data import load_study
from tests.atom.asked.questions import QUESTIONS, UNANSWERED

DEMO = Path(__file__).parents[3] / "data" / "demo"
FILE = Path(__file__).parent / "replies.json"


def main() -> None:
    """Ask each question once, and keep what came."""
    probe = next(one for one in builtin_endpoints() if one.name == "probe-judge")
    with Store.open(DEMO, read_only=True) as sealed:
        data = load_study(sealed, list_studies(sealed)[0].id)
    replies = {}
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        store.put([data.study])
        study = find_study(store, data.study.id)
        for question in [*(one for one, _ in QUESTIONS), UNANSWERED[0][0]]:
            before = {call.id for call in store.select(Call)}
            asyncio.run(asking.ask(store, study, probe, question, vocabulary_of(data)))
            (call,) = [one for one in store.select(Call) if one.id not in before]
            replies[question] = {"model": call.model, "form": call.form, "reply": call.reply}
    text = json.dumps(replies, indent=1, ensure_ascii=False, sort_keys=True)
    FILE.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
