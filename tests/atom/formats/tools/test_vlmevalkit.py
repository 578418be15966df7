import base64
import io

import numpy as np
import pytest
from PIL import Image

from atom.analysis.agreement.yes_no import all_right, paired_score, yes_rates
from atom.errors import FormatError
from atom.formats import ImportFile
from tests.imports import cut_files, expected, on_disk, take, uploaded

BASE = "vila_8b_"


def taken(shared_folder, *names):
    return take(None, *on_disk(shared_folder / "real" / "vlmevalkit", *names))


def by_sample(found):
    """Rows of a result sheet: (sample, right, what was read)."""
    outcome = {o.response_id: o for o in found.outcomes}
    samples = {sample.id: sample for sample in found.samples}
    return [
        (samples[r.sample_id], outcome[r.id].value, outcome[r.id].answer) for r in found.responses
    ]


def agrees(found, name, figures):
    return f"{name}: {figures} of {figures} figures agree" in found.report.notes


def test_hallusionbench_recomputes_in_all_three_ways(shared_folder):
    names = f"{BASE}HallusionBench_auxmatch.xlsx", f"{BASE}HallusionBench_score.csv"
    found = taken(shared_folder, *names)
    rows = by_sample(found)
    right = np.array([value for _, value, _ in rows])
    parts = [sample.source_id.split("_") for sample, _, _ in rows]
    wanted = expected(shared_folder)["vlmevalkit_vila_8b"]["HallusionBench"]
    figure = [(p[0], p[1], p[3], p[4]) for p in parts]
    question = [(p[0], p[1], p[3], p[5]) for p in parts]
    assert 100 * right.mean() == pytest.approx(wanted["aAcc"], abs=5e-5)
    assert 100 * all_right(right, figure) == pytest.approx(wanted["fAcc"], abs=5e-5)
    assert 100 * all_right(right, question) == pytest.approx(wanted["qAcc"], abs=5e-5)
    assert agrees(found, names[1], 36)
    unknown = [value for _, value, said in rows if said == "Unknown"]
    assert len(unknown) == wanted["extracted_unknown"]
    assert not any(unknown)
    assert any(
        note.startswith("21 times: an answer was read as Unknown") for note in found.report.notes
    )


def test_mme_recomputes(shared_folder):
    names = f"{BASE}MME_auxmatch.xlsx", f"{BASE}MME_score.csv"
    found = taken(shared_folder, *names)
    rows = by_sample(found)
    category = {name: values[0] for name, values in found.tagged("category").items()}
    wanted = expected(shared_folder)["vlmevalkit_vila_8b"]["MME"]
    scores = {}
    for name in set(category.values()):
        mine = [row for row in rows if category[row[0].id] == name]
        right = np.array([value for _, value, _ in mine])
        scores[name] = paired_score(right, [sample.pictures[0].name for sample, _, _ in mine])
    thinking = {
        "code_reasoning", "commonsense_reasoning", "numerical_calculation", "text_translation",
    }  # fmt: skip
    reasoning = sum(score for name, score in scores.items() if name in thinking)
    assert reasoning == pytest.approx(wanted["reasoning"])
    assert sum(scores.values()) - reasoning == pytest.approx(wanted["perception"], abs=5e-5)
    assert agrees(found, names[1], 16)


@pytest.mark.slow
def test_pope_counts_a_row_in_each_of_its_subsets(shared_folder):
    names = f"{BASE}POPE_auxmatch.xlsx", f"{BASE}POPE_score.csv"
    found = taken(shared_folder, *names)
    rows = {
        sample.id: (sample.reference == "Yes", said == "Yes")
        for sample, _, said in by_sample(found)
    }
    subsets = found.tagged("category")
    every = []
    wanted = expected(shared_folder)["vlmevalkit_vila_8b"]["POPE"]
    for name in ("popular", "random", "adversarial"):
        mine = [rows[key] for key, values in subsets.items() if name in values]
        every += mine
        rates = yes_rates(*(np.array(column) for column in zip(*mine, strict=True)))
        assert 100 * rates.accuracy == pytest.approx(wanted[name]["acc"], abs=5e-5)
        assert 100 * rates.f1 == pytest.approx(wanted[name]["f1"], abs=5e-5)
    rates = yes_rates(*(np.array(column) for column in zip(*every, strict=True)))
    assert 100 * rates.f1 == pytest.approx(wanted["Overall"]["f1"], abs=5e-5)
    assert len(every) == 9000 > len(rows) == 5127
    assert agrees(found, names[1], 16)


@pytest.mark.parametrize(
    ("sheet", "table", "figures", "mean"),
    [
        ("MMStar_openai_result.xlsx", "MMStar_acc.csv", 7, ("MMStar", "overall")),
        ("RealWorldQA_openai_result.xlsx", "RealWorldQA_acc.csv", 1, ("RealWorldQA",)),
    ],
)
def test_choices_recompute(shared_folder, sheet, table, figures, mean):
    found = taken(shared_folder, BASE + sheet, BASE + table)
    wanted = expected(shared_folder)["vlmevalkit_vila_8b"]
    for key in mean:
        wanted = wanted[key]
    assert np.mean([o.value for o in found.outcomes]) == pytest.approx(wanted, abs=5e-5)
    assert agrees(found, BASE + table, figures)
    assert all(sample.choices for sample in found.samples)


def test_mm_vet_counts_a_row_in_each_of_its_capabilities(shared_folder):
    names = "instructblip_7b_MMVet_gpt4.xlsx", "instructblip_7b_MMVet_gpt4_score.xlsx"
    found = taken(shared_folder, *names)
    wanted = dict(expected(shared_folder)["vlmevalkit_instructblip_7b_MMVet"])
    assert 100 * np.mean([o.value for o in found.outcomes]) == pytest.approx(
        wanted.pop("overall"), abs=5e-5
    )
    score = {sample.id: value for sample, value, _ in by_sample(found)}
    labels = found.tagged("category")
    for name, (rows, mean) in wanted.items():
        mine = [score[key] for key, values in labels.items() if name in values]
        assert len(mine) == rows
        assert 100 * np.mean(mine) == pytest.approx(mean, abs=5e-5)
    assert agrees(found, names[1], 7)
    assert found.report.candidates == ("instructblip_7b",)


def test_mmmus_accuracy_names_its_denominator(shared_folder):
    names = "qwen_chat_MMMU_DEV_VAL.xlsx", "qwen_chat_MMMU_DEV_VAL_acc.xlsx"
    found = taken(shared_folder, *names)
    assert (
        f"{names[1]}: its acc is hit/match: 35.9 of the 891 answers that could be matched; of all "
        "1050 it is 30.5" in found.report.notes
    )
    assert not found.outcomes
    assert found.report.dataset == "MMMU_DEV_VAL"


def png(colour):
    out = io.BytesIO()
    Image.new("RGB", (9, 7), colour).save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


def test_a_benchmark_brings_pictures_and_a_sheet_its_answers():
    benchmark = (
        "index\tquestion\timage\tA\tB\tanswer\tcategory\n"
        f"0\tWhat?\t{png('red')}\tone\ttwo\tB\tx\n1\tAnd?\t0\tone\ttwo\tA\ty\n"
        "2\tGone?\t99\tone\ttwo\tA\ty\n"
    )
    sheet = "index,question,A,B,answer,prediction,hit\n0,What?,one,two,B,B,1\n1,And?,one,two,A,,0\n"
    found = take(None, uploaded("m_MMStar_result.csv", sheet), uploaded("MMStar.tsv", benchmark))
    first, second, third = found.samples
    assert first.pictures[0].picture_id == second.pictures[0].picture_id is not None
    assert third.pictures[0].picture_id is None
    assert first.reference == "two"
    assert [(r.state, r.text) for r in found.responses] == [("scored", "B"), ("unscored", "")]
    assert len(found.samples) == 3
    assert found.report.pictures == 1


def test_a_row_that_names_a_row_with_several_pictures_has_all_of_them():
    rows = [
        {"index": 0, "question": "Same?", "image": [png("red"), png("blue")], "answer": "no"},
        {"index": 1, "question": "And now?", "image": "0", "answer": "no"},
        {"index": 2, "question": "And then?", "image": "1", "answer": "no"},
    ]
    found = take("vlmevalkit", uploaded("Pairs.json", rows))
    shown = [[slot.picture_id for slot in sample.pictures] for sample in found.samples]
    assert len(set(shown[0])) == 2
    assert None not in shown[0]
    assert shown[0] == shown[1] == shown[2]


def test_a_row_that_names_a_broken_pictures_row_has_no_picture():
    broken = base64.b64encode(b"\x89PNG" + bytes(80)).decode()
    benchmark = f"index\tquestion\timage\n0\tWhat?\t{broken}\n1\tAnd?\t0\n"
    found = take(None, uploaded("MMStar.tsv", benchmark))
    assert [sample.pictures[0].picture_id for sample in found.samples] == [None, None]
    assert (found.report.pictures, found.report.n_missing_pictures) == (0, 2)


def test_a_run_folder_names_model_and_data_set(tmp_path):
    folder = tmp_path / "My_Model-7B" / "T20260101_Gabc"
    folder.mkdir(parents=True)
    path = folder / "My_Model-7B_OurOwnSet_openai_result.csv"
    path.write_text("index,question,prediction,hit\n0,Q?,a,1\n")
    (folder / "status.json").write_text('{"OurOwnSet": {"infer": true}}')
    files = [ImportFile.from_path(path), ImportFile.from_path(folder / "status.json")]
    found = take("vlmevalkit", *files)
    assert found.report.candidates == ("My_Model-7B",)
    assert found.report.dataset == "OurOwnSet"


def test_a_table_that_differs_and_one_without_answers_are_said():
    sheet = "index,question,prediction,hit,category\n0,Q?,a,1,x\n1,R?,b,0,x\n"
    table = '"split","Overall","x"\n"none","0.5","0.9"\n'
    found = take(
        None, uploaded("m_MMStar_result.csv", sheet), uploaded("m_MMStar_acc.csv", table),
        uploaded("other_MMStar_acc.csv", table),
    )  # fmt: skip
    assert "m_MMStar_acc.csv: 1 of 2 figures agree" in found.report.notes
    assert "m_MMStar_acc.csv: x 0.5000, published 0.9" in found.report.notes
    assert any("answers of other on MMStar" in note for note in found.report.notes)


@pytest.mark.parametrize("name", ["m_MME_score.csv", "m_MMStar_acc.csv"])
def test_scores_alone_are_refused(name):
    with pytest.raises(FormatError, match="holds only scores"):
        take(None, uploaded(name, '"split","Overall"\n"none","0.5"\n'))


def test_cut_workbooks_are_refused_in_words(shared_folder):
    folder = shared_folder / "real" / "vlmevalkit"
    cut_files("vlmevalkit", folder / f"{BASE}RealWorldQA_openai_result.xlsx", 3)
    cut_files("table", folder / f"{BASE}RealWorldQA_openai_result.xlsx", 3)


def sheet_row(index, question="What?", hit=1, **more):
    return {
        "index": index, "question": question, "A": "x", "B": "y", "answer": "A",
        "prediction": "A", "hit": hit, **more,
    }  # fmt: skip


def test_sheets_at_four_rotations_are_one_model_and_clusters_by_picture():
    files = [
        uploaded(f"gpt-x_tdbench_rot{turn}_openai_result.json", [sheet_row(1), sheet_row(2)])
        for turn in (0, 90, 180, 270)
    ]
    found = take("vlmevalkit", *files)
    assert found.report.candidates == ("gpt-x",)
    assert len(found.samples) == len(found.outcomes) == 8
    assert len({sample.cluster for sample in found.samples}) == 2
    turns = found.tagged("rotation")
    assert sorted(value for values in turns.values() for value in values) == sorted(
        2 * ["0", "90", "180", "270"]
    )


def test_repeating_indices_keep_all_rows_and_models_meet_on_them():
    rows = [sheet_row(5, "One?"), sheet_row(5, "Another?", hit=0), sheet_row(6, "Third?")]
    files = [uploaded(f"{model}_SEEDBench2_openai_result.json", rows) for model in ("m", "n")]
    found = take("vlmevalkit", *files)
    assert [sample.source_id for sample in found.samples] == ["5", "5 (2)", "6"]
    assert len(found.responses) == len(found.outcomes) == 6
    assert found.report.account.of("rows").came_in == 6
    assert found.report.doubts == ()
