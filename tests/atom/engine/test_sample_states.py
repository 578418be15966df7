from __future__ import annotations

from dataclasses import replace

from atom.engine.imports.importing import import_reading
from atom.engine.plan import outlook
from atom.engine.sample_states import load_states
from atom.formats import ImportFile, read
from atom.records import Response, Study
from atom.store import Store, study_candidates, study_places
from tests.atom.engine.test_plan import KEYS
from tests.factories import ANSWERING, STUDY, make_study
from tests.votes import MOMENT, vote_files


def test_an_answer_known_from_votes_alone_is_nothing_to_judge(tmp_path):
    files, _ = vote_files(samples=2)
    table = b"unique_idx,model_1,model_2,judge,answer\n0_1,base,weak,judge x,Answer1\n"
    for rows, state in (
        (ImportFile.from_bytes("votes.csv", table), "unscored"),
        (files[1], "scored"),
    ):
        with Store.open(tmp_path / state) as store:
            reading = read("mllm-bench", [files[0], rows])
            study = import_reading(store, reading, "Votes", MOMENT).study
            places = study_places(store, study.id)
            names = [candidate.id for candidate in study_candidates(store, study.id)]
            states = load_states(store, KEYS, places, names)
        held = [one.state for loaded in states for one in loaded.have.responses.values()]
        assert held
        assert set(held) == {state}


def test_a_typed_answer_is_to_be_judged_as_the_screens_say(tmp_path):
    with Store.open(tmp_path) as store:
        study = make_study(store)
        (place, *_) = study_places(store, Study.make_id(STUDY))
        typed = Response(
            id="by-hand", sample_id=place.sample_id, candidate_id="cand-a", prompt="typed", text="2"
        )
        store.put([typed])
        keys = replace(KEYS, answer_sampling=ANSWERING)
        names = [candidate.id for candidate in study_candidates(store, study.id)]
        (loaded,) = load_states(store, keys, [place], names)
    assert loaded.have.responses["by-hand"].state == "scored"
    ready = outlook(loaded.have, keys).ready
    assert "by-hand" in {item.response_id for item in ready if item.stage == "scoring"}
