"""Judges measured against people: the smaller formats, on the real files and by hand."""

from collections import defaultdict

import krippendorff
import numpy as np
import pytest

from atom.analysis.agreement.raters import krippendorff_alpha, rank_correlation
from atom.errors import FormatError
from atom.formats.benchmarks.image_edit import CRITERIA
from atom.formats.benchmarks.metacritique import claim_key
from tests.imports import cut_files, expected, on_disk, take, uploaded

# --- ratings of edited pictures ---


@pytest.fixture(scope="module")
def edits(shared_folder):
    folder = shared_folder / "real" / "image_edit_judge"
    names = ("human_ratings.csv", "judge_all_main.jsonl", "judge_all_category_wise.jsonl")
    return take(None, *on_disk(folder, *names))


def human_ratings(taken):
    """Ratings by raters and things, and the things' names."""
    labels = [given for given in taken.labels if not given.subject_id.endswith("/overall")]
    things = {name: at for at, name in enumerate(dict.fromkeys(g.subject_id for g in labels))}
    raters = {name: at for at, name in enumerate(dict.fromkeys(g.annotator for g in labels))}
    found = np.full((len(raters), len(things)), np.nan)
    for given in labels:
        found[raters[given.annotator], things[given.subject_id]] = given.value
    return found, list(things)


def test_the_judge_correlates_with_nineteen_raters_as_expected(edits, shared_folder):
    wanted = expected(shared_folder)["image_edit_judge"]
    ratings, things = human_ratings(edits)
    assert (len(ratings), edits.report.samples) == (wanted["raters"], wanted["images"])
    mean = np.nanmean(ratings, axis=0)
    criterion = np.array([thing.split("/")[1] for thing in things])
    assert set(criterion) == set(CRITERIA)
    for judge in ("all_main", "all_category_wise"):
        said = {
            f"{v.subject_id}/{v.part.removeprefix('offline/')}": v.value
            for v in edits.verdicts
            if v.judge == judge and v.part.startswith("offline/")
        }
        score = np.array([said.get(thing, np.nan) for thing in things], dtype=float)
        assert int(np.isfinite(score).sum()) == wanted[judge]["pairs"]
        assert rank_correlation(mean, score) == pytest.approx(
            wanted[judge]["pooled_spearman"], abs=5e-5
        )
        for name in ("alignment", "spatial_relationship"):
            here = criterion == name
            assert rank_correlation(mean[here], score[here]) == pytest.approx(
                wanted[judge][f"{name}_spearman"], abs=5e-5
            )


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_agreement_of_the_raters_with_missing_ratings_is_the_packages(edits, level):
    ratings, _ = human_ratings(edits)
    theirs = krippendorff.alpha(ratings, level_of_measurement=level)
    assert krippendorff_alpha(ratings, level) == pytest.approx(theirs)
    assert int(np.isfinite(ratings).sum()) == 380 * 12


def test_both_spellings_of_a_criterion_are_one():
    people = (
        "annotator_id,task_id,instruction,texture_detail,unchanged_regions,plausibility,skipped\n"
        "r1,T_Add_1,Add a hat.,3,9,1,false\nr2,T_Add_1,Add a hat.,3,1,1,true\n"
    )
    scores = {"texture_and_detail": {"score": 5, "justification": "Fine."}, "x": {"score": "?"}}
    judge = [{"image_id": "T_Add_1", "offline_factor_results": scores}]
    found = take(None, uploaded("h.csv", people), uploaded("judge_a.jsonl", judge))
    sample = found.samples[0]
    assert sample.question == "Add a hat."
    assert {given.subject_id: given.value for given in found.labels} == {
        f"{sample.id}/texture_detail": 3, f"{sample.id}/plausibility": 1,
    }  # fmt: skip
    assert [(v.part, v.value, v.state) for v in found.verdicts] == [
        ("offline/texture_detail", 5, "scored"), ("offline/x", None, "unscored"),
    ]  # fmt: skip
    assert "the rater skipped" in found.report.skipped[0]
    assert any("from 1 to 7" in note for note in found.report.notes)


# --- MetaCritique ---


def test_critics_score_as_the_means_of_peoples_labels(shared_folder):
    folder = shared_folder / "real" / "metacritique"
    found = take(None, *on_disk(folder, "annotation_data_first67.json"))
    critic = {name: values[0] for name, values in found.tagged("critic", "response").items()}
    claims = defaultdict(list)
    for given in found.labels:
        response, measure, _ = given.subject_id.split("/")
        claims[response, measure].append(given.value)
    wanted = expected(shared_folder)["metacritique"]
    for name in ("human", "llm1", "llm2"):
        mine = [response for response, who in critic.items() if who == name]
        p, r = (
            np.array([np.mean(claims.get((one, measure), [0.0])) for one in mine])
            for measure in ("precision", "recall")
        )
        f1 = np.divide(2 * p * r, p + r, out=np.zeros(len(p)), where=p + r > 0)
        ours = {"precision": p.mean(), "recall": r.mean(), "f1": f1.mean()}
        assert ours == pytest.approx(wanted[f"{name}_critique"], abs=5e-5)
    assert "603 of 603 stored scores equal the means of the labels" in found.report.notes


def test_claims_are_named_by_their_critique():
    item = {
        "shepherd_id": 3, "question": "Why?", "response": "So.",
        "gpt4_critique": {"critique": "No.", "aius": ["It is wrong."]},
        "human_critique": {
            "critique": "Bad.", "aius": ["One.", "Two."], "precision_labels": [True, "?"],
            "recall_labels": [False], "precision_score": 0.5,
        },
    }  # fmt: skip
    found = take("metacritique", uploaded("a.json", [item, {**item, "response": None}]))
    critique = next(r for r in found.responses if r.text == "Bad.")
    assert [(g.subject_id, g.value, g.note) for g in found.labels] == [
        (claim_key(critique.id, "precision", 0), 1, "One."),
        (claim_key(critique.id, "recall", 0), 0, "It is wrong."),
    ]
    assert "0 of 1 stored scores equal the means of the labels" in found.report.notes
    assert found.report.n_skipped == 1


# --- Prometheus ---


def test_a_judge_asked_three_times_agrees_with_itself_as_expected(shared_folder):
    folder = shared_folder / "real" / "prometheus"
    found = take(None, *on_disk(folder, "mt_bench_eval_first160.json"))
    scores = defaultdict(dict)
    for verdict in found.verdicts:
        scores[verdict.part][verdict.repeat] = verdict.value
    table = np.array([[score[at] for at in range(3)] for score in scores.values()])
    wanted = expected(shared_folder)["prometheus"]
    assert len(table) == wanted["rows"]
    spread = np.ptp(table, axis=1)
    assert int((spread == 0).sum()) == wanted["all_three_equal"]
    assert spread.max() == wanted["max_spread"]
    assert np.corrcoef(table[:, 0], table[:, 1])[0, 1] == pytest.approx(
        wanted["pearson_1_2"], abs=5e-5
    )
    assert table.mean() == pytest.approx(wanted["mean_score"], abs=5e-5)
    assert all(sample.reference for sample in found.samples)


def test_a_prompt_is_taken_apart():
    prompt = (
        "###Task Description:\nJudge.\n\n###The instruction to evaluate:\nAdd 1 and 1.\n\n"
        "###Response to evaluate:\n2\n\n###Reference Answer (Score 5):\nTwo.\n\n"
        "###Score Rubrics:\n[Is it right?]\nScore 1: No.\nScore 5: Yes.\n\n###Feedback: "
    )
    row = {
        "idx": 1, "response_source": "m", "category": "math", "instruction": prompt,
        "gpt4_score": [5, 9], "gpt4_feedback": ["Right.", "?"],
    }  # fmt: skip
    found = take(None, uploaded("p.json", [row, {**row, "instruction": "no titles"}]))
    (sample,) = found.samples
    assert (sample.question, sample.reference) == ("Add 1 and 1.", "Two.")
    assert found.responses[0].text == "2"
    assert found.tagged("rubric")[sample.id] == ["Is it right?"]
    assert [(v.repeat, v.value, v.state, v.text) for v in found.verdicts] == [
        (0, 5, "scored", "Right."), (1, None, "unscored", "?"),
    ]  # fmt: skip
    assert found.report.n_skipped == 1


# --- reviews ---


def test_totals_of_reviews_are_the_published_ones(shared_folder):
    names = [f"review_{one}_vicuna-13b.jsonl" for one in ("alpaca-13b", "bard", "llama-13b")]
    names += ["question.jsonl", "answer_bard.jsonl", "answer_vicuna-13b.jsonl"]
    found = take(None, *on_disk(shared_folder / "real" / "vicuna80", *names))
    model = {r.id: found.candidates[r.candidate_id].split(":")[0] for r in found.responses}
    totals = defaultdict(float)
    for verdict in found.verdicts:
        a, b, side = verdict.part.split("/")
        totals[model[a], side] += verdict.value
        assert model[b] == "vicuna-13b"
    for name, row in expected(shared_folder)["vicuna80"].items():
        assert totals[name, "a"] == row["total"]
        assert totals[name, "b"] == row["vicuna_total"]
    assert len(found.samples) == 80
    assert all("category" in tag.facet for tag in found.tags)


def test_a_review_that_could_not_be_read_is_no_score():
    rows = [
        {"question_id": 1, "answer1_id": "x", "answer2_id": "y", "tuple": [-1, -1], "content": "?"},
        {"question_id": 2, "answer1_id": "x", "answer2_id": "y", "tuple": [7, 7], "content": "7 7"},
    ]
    found = take(None, uploaded("review_m1_m2.jsonl", rows))
    assert [(v.state, v.verdict) for v in found.preferences] == [
        ("unscored", None),
        ("scored", "tie"),
    ]
    assert [v.value for v in found.verdicts] == [7, 7]
    assert sorted(found.candidates.values()) == ["m1", "m2"]


def test_mt_bench_files_hold_turns_and_both_orders():
    questions = [{"question_id": 81, "category": "writing", "turns": ["One?", "Two?"]}]
    answers = [
        {"question_id": 81, "answer_id": name, "model_id": name,
         "choices": [{"index": 0, "turns": [f"{name} 1", f"{name} 2"]}]}
        for name in ("p", "q")
    ]  # fmt: skip
    judged = [
        {"question_id": 81, "model_1": "p", "model_2": "q", "g1_winner": "model_2",
         "g2_winner": "error", "judge": ["gpt-4", "pair-v2"], "turn": 2},
    ]  # fmt: skip
    single = [
        {"question_id": 81, "model": "p", "judge": ["gpt-4", "single"], "judgment": "[[9]]",
         "score": 9, "turn": 1},
    ]  # fmt: skip
    found = take(
        None,
        uploaded("question.jsonl", questions),
        uploaded("answers.jsonl", answers),
        uploaded("gpt-4_pair.jsonl", judged),
        uploaded("gpt-4_single.jsonl", single),
    )
    assert [sample.question for sample in found.samples] == ["One?", "One?\n\nTwo?"]
    assert len({sample.cluster for sample in found.samples}) == 1
    assert [(v.first, v.verdict) for v in found.preferences] == [("a", "b"), ("b", None)]
    assert [(v.value, v.judge) for v in found.verdicts] == [(9, "gpt-4 single")]
    assert {r.text for r in found.responses} == {"p 1", "p 2", "q 1", "q 2"}


def test_prompts_alone_are_refused(shared_folder):
    with pytest.raises(FormatError, match="only a judge's prompts"):
        take(None, *on_disk(shared_folder / "real" / "vicuna80", "rule.json"))


# --- MLLM-as-a-Judge and Multimodal RewardBench ---


def test_pairs_batches_and_scores_come_in(shared_folder):
    names = ("batch_lite_2rows.jsonl", "pair_lite_4rows.jsonl", "score_gpt-4v_2rows.jsonl")
    found = take(None, *on_disk(shared_folder / "real" / "mllm_judge", *names))
    kinds = [given.kind for given in found.labels]
    assert (kinds.count("ranking"), kinds.count("preference")) == (2, 4)
    ranking = next(given for given in found.labels if given.kind == "ranking")
    names_of = {r.id: found.candidates[r.candidate_id] for r in found.responses}
    # "CABD" of llava, cogvlm, gpt4, gemini.
    assert [names_of[one.response_id] for one in ranking.ranks] == [
        "gpt4", "llava", "cogvlm", "gemini",
    ]  # fmt: skip
    assert all(1 <= verdict.value <= 5 for verdict in found.verdicts)
    assert found.report.n_skipped == 0


def test_a_broken_ranking_is_left_out_and_a_score_is_found_in_the_text():
    shared = {"id": 1, "image_path": "a/1.jpg", "original_dataset": "d", "instruction": "Say."}
    one = {"name": "m", "answer": "x"}
    two = {"name": "n", "answer": "y"}
    rows = [
        {**shared, "answers": [one, two], "human": "AA"},
        {**shared, "answer": one, "result": {"name": "j", "judge": "", "analysis": "[[1]] }"}},
        {**shared, "answer": two, "result": {"name": "j", "judge": "great"}},
        {**shared, "answer1": one, "answer2": two, "human_answer": "C"},
        {**shared, "answer1": one, "answer2": one, "human_answer": "C"},
    ]
    found = take("mllm-judge", uploaded("x.jsonl", rows))
    assert [given.label for given in found.labels] == ["tie"]
    assert [v.value for v in found.verdicts] == [1, None]
    assert "both answers are of one model" in found.report.skipped[0]


def test_a_judges_output_is_read_to_its_last_verdict(shared_folder):
    folder = shared_folder / "real" / "multimodal_rewardbench"
    found = take(None, *on_disk(folder, "example.jsonl"))
    truth = {given.subject_id: given.label for given in found.labels}
    right = [
        vote.verdict == truth[f"{vote.response_a}/{vote.response_b}"] for vote in found.preferences
    ]
    assert right == [True, False]


def test_an_output_without_a_verdict_is_no_coin_flip():
    data = "ID,Text,Image,Output1,Output2,Better,Category\n7,Which?,i.png,one,two,Output2,vqa\n"
    output = [{"ID": "7", "Image": "i.png", "Label": "B", "output": "Hard to say.", "Meta": {}}]
    found = take(None, uploaded("all.csv", data), uploaded("judge.jsonl", output))
    assert [(v.verdict, v.state, v.judge) for v in found.preferences] == [
        (None, "unscored", "judge")
    ]
    assert found.labels[0].label == "b"
    assert [r.text for r in found.responses] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("image-edit", "image_edit_judge/human_ratings.csv"),
        ("metacritique", "metacritique/annotation_data_first67.json"),
        ("prometheus", "prometheus/mt_bench_eval_first160.json"),
        ("reviews", "vicuna80/review_bard_vicuna-13b.jsonl"),
        ("mllm-judge", "mllm_judge/pair_lite_4rows.jsonl"),
        ("multimodal-rewardbench", "multimodal_rewardbench/example.jsonl"),
    ],
)
def test_cut_files_are_read_as_far_as_they_go(shared_folder, name, path):
    cut_files(name, shared_folder / "real" / path, 3)
