import pytest

from atom.views.failures.page import count_listed, failures
from atom.views.filters import Filters
from atom.views.overview.page import overview
from tests.factories import COUNT, DIFFERENCE


def test_the_worst_sample_is_first_and_its_worst_criterion_is_chosen(store, data):
    page = failures(store, data, Filters(model="cand-c"))
    # C, sum of w*(5-s) over s <= 2: sample 0: 8+12+20 = 40; 3: 8+9+15 = 32; 4: 6+9+15 = 30; 1: 6.
    assert [row.severity for row in page.rows] == [40, 32, 30, 6]
    assert page.total == 4
    assert page.looked_at == 5
    assert page.checkpoints == 10
    worst = page.rows[0]
    assert worst.filters.sample == worst.sample_id
    assert worst.filters.criterion == worst.criterion_id is not None


def test_without_a_model_the_door_leads_to_the_one_that_failed_worst(store, data):
    page = failures(store, data, Filters(node=DIFFERENCE))
    assert page.rows[0].filters.model in {"cand-b", "cand-c"}


@pytest.mark.parametrize(
    ("show", "total"), [("failed", 2), ("imperfect", 4), ("unscored", 2), ("all", 6)]
)
def test_what_is_shown_can_be_chosen(store, data, show, total):
    # B: failed in samples 0 and 2; imperfect in 0, 1, 2, 4; unscored or failed in 2 and 3.
    page = failures(store, data, Filters(model="cand-b", show=show))
    assert page.total == total
    assert any(row.quarantined for row in page.rows) == (show == "all")


def test_the_number_on_a_cell_is_the_number_behind_its_door(store, data):
    for row in overview(data, Filters(study=data.study.id)).skills:
        for cell in row.cells:
            behind = failures(store, data, cell.filters)
            # The cell's mean leaves unscored checkpoints out; the list looks at all samples.
            assert behind.looked_at >= cell.estimate.samples
            everything = failures(store, data, cell.filters.but(show="all"))
            assert everything.total >= behind.total


def test_chips_show_each_candidate_within_the_node(store, data):
    page = failures(store, data, Filters(model="cand-c", node=COUNT))
    chips = {chip.model_id: chip for chip in page.rows[0].chips}
    assert chips["cand-a"].score == 5
    assert chips["cand-c"].score == 1
    assert chips["cand-c"].chosen
    assert chips["cand-a"].right is True


def test_a_page_that_does_not_exist_gives_the_last(store, data):
    assert failures(store, data, Filters(), page=99).page == 0
    assert failures(store, data, Filters(), page=-1).page == 0


def test_wrong_answers_are_the_failures_of_an_imported_study(store, imported):
    page = failures(store, imported, Filters())
    assert page.measure == "outcome"
    assert {row.question for row in page.rows} == {"Question 0?", "Question 7?"}
    geometry = failures(store, imported, Filters(tags=(("skills", "geometry"),)))
    assert (geometry.total, geometry.looked_at) == (1, 3)


def test_an_unknown_model_means_all(store, data):
    assert failures(store, data, Filters(model="nobody")).total == 5


@pytest.mark.parametrize("show", ["failed", "imperfect", "unscored", "all"])
@pytest.mark.parametrize("model", [None, "cand-b"])
def test_a_list_can_be_counted_without_reading_it(store, data, show, model):
    for node in ((), COUNT):
        filters = Filters(model=model, show=show, node=node)
        assert count_listed(data, filters) == failures(store, data, filters).total
