import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.views.failures.find import NOTHING
from atom.views.failures.page import count_listed, failures, samples_listed
from atom.views.failures.search import excerpt, folded, holding, search
from atom.views.filters import Filters
from tests.factories import COUNT, HOSTILE


def looking(words="", **changes):
    show = changes.pop("show", "failed")
    model = changes.pop("model", None)
    return Filters(show=show, model=model, find=NOTHING.but(words=words, **changes))


def found(store, data, *args, **changes):
    """Return the numbers of the samples that are listed."""
    return sorted(samples_listed(data, looking(*args, **changes), store).tolist())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "places", "samples"),
    [
        # Reasons say "It says 3." of sample 2; sample 3's answers speak of 4 balls.
        ("it says 3", (), [2]),
        ("IT SAYS 3.", (), [2]),
        ('"4 balls, I think"', ("answer",), [3]),
        ("4 balls", ("reason",), []),
        ("of the 5 balls", ("question",), [4]),
        # Criterion 1 is failed in sample 0 by B and C, in sample 3 and 4 by C (2 or less).
        ('"how many are red"', ("criterion",), [0, 3, 4]),
        # Both words stand in the answers, but in no single reason.
        ("balls says", (), []),
        ("think -5", ("answer",), [0, 1, 2, 3]),
        ("zebra", (), []),
    ],
)
def test_words_are_found_where_they_stand(store, data, words, places, samples):
    assert found(store, data, words, places=places) == samples


def test_every_count_of_a_search_counts_failures(store, data):
    view = failures(
        store, data, looking('"how many are red"', places=("criterion",), model="cand-c")
    )
    # C's scores of that criterion: 1 5 3 2 2: three of five samples fail it.
    assert (view.total, view.looked_at, view.checkpoints) == (3, 5, 3)
    assert [row.failed for row in view.rows] == [1, 1, 1]
    assert view.rows[0].severity == 3 * (5 - 1)
    assert count_listed(data, looking('"how many are red"', places=("criterion",)), store) == 3


def test_a_row_says_where_the_words_stand(store, data):
    by_reason = failures(store, data, looking("says 3")).rows[0].hit
    assert by_reason.place == "reason"
    assert by_reason.parts == (("It ", False), ("says", True), (" ", False), ("3", True),
                               (".", False))  # fmt: skip
    assert data.candidates[by_reason.model].id in {"cand-b", "cand-c"}
    by_question = failures(store, data, looking("of the 5 balls", places=("question",)))
    assert by_question.rows[0].hit.place == "question"
    assert ("5", True) in by_question.rows[0].hit.parts


@pytest.mark.parametrize(
    "words",
    ["%", "_", "' OR '1'='1", "'; DROP TABLE samples; --", ".*", "(a+)+$", "\\", "[^a]",
     "zebra OR balls", "balls*", "\x00"],
)  # fmt: skip
def test_what_was_typed_is_never_a_pattern(store, data, words):
    assert found(store, data, words, show="all") == []
    assert len(found(store, data, show="all")) == 6


def test_hostile_texts_are_found_as_they_are(store, data):
    assert found(store, data, f'"{HOSTILE[:12]}"', places=("question",)) == [3]


def test_by_outcome_answers_are_found(store, imported):
    everything = samples_listed(imported, Filters(), store)
    some = failures(store, imported, looking("question 7", places=("question",)))
    assert (some.total, len(everything)) == (1, 2)
    assert some.rows[0].hit.place == "question"


def test_a_search_is_done_once(store, data):
    find = looking("balls").find
    assert search(store, data, find) is search(store, data, find)
    assert search(store, data, NOTHING) is None


def test_words_need_a_store(data):
    with pytest.raises(ValueError, match="store"):
        count_listed(data, looking("balls"))


@pytest.mark.parametrize(
    ("sort", "samples"),
    [
        # Weight lost by all, failed only: 0: 12+20... the worst first; ties by place.
        ("order", [0, 1, 2, 3, 4]),
        # Failed checkpoints: 0: 5 (B 2, C 3), 3: 3, 4: 3, 2: 1, 1: 1.
        ("failed", [0, 3, 4, 2, 1]),
    ],
)
def test_the_list_is_sorted_as_asked(store, data, sort, samples):
    order = samples_listed(data, looking(sort=sort), store).tolist()
    if sort == "failed":
        assert order[0] == 0
        assert set(order[1:3]) == {3, 4}
        assert set(order[3:]) == {1, 2}
    else:
        assert order == samples


def test_the_lowest_score_of_the_chosen_model_comes_first(store, data):
    order = samples_listed(data, looking(sort="score", model="cand-c"), store).tolist()
    # C's weighted means: 0: 1.0; 3: (2+6+10)/10 = 1.8; 4: 2.0; 1: (4+15+25)/10 = 4.4.
    assert order == [0, 3, 4, 1]


def test_models_that_fail_and_how_far_they_differ(store, data):
    view = failures(store, data, looking(sort="models"))
    assert view.rows[0].told == "2 of 3 models fail"
    apart = failures(store, data, looking(sort="spread"))
    # Sample 0: A 5, C 1 of 5: 100 points.
    assert apart.rows[0].told == "100 points apart"


@pytest.mark.parametrize(
    ("changes", "samples"),
    [
        ({"fails": ("cand-b",)}, [0, 2]),
        ({"fails": ("cand-b", "cand-c")}, [0]),
        ({"fails": ("cand-c",), "passes": ("cand-b",)}, [1, 3, 4]),
        ({"passes": ("cand-c",)}, [2]),
        ({"within": (COUNT,)}, [0, 1, 3, 4]),
        ({"outside": (COUNT, ("Reasoning",))}, [0, 3, 4]),
        ({"states": ("unscored",), "show": "all"}, [2]),
        ({"states": ("failed", "unscored"), "show": "all"}, [2, 3]),
        ({"stateless": ("scored",), "show": "all"}, [2, 3]),
    ],
)
def test_the_list_is_narrowed_by_several_values_and_by_not(store, data, changes, samples):
    assert found(store, data, **changes) == samples


def test_labels_are_narrowed_by_several_values_and_by_not(store, data):
    def listed(**labels):
        return sorted(samples_listed(data, Filters(show="all", **labels), store).tolist())

    assert listed(among=(("level", "easy"), ("level", "hard"))) == [0, 1, 2, 3, 4]
    assert listed(among=(("level", "hard"),)) == [3, 4]
    assert listed(without=(("level", "hard"),)) == [0, 1, 2]
    assert listed(tags=(("level", "easy"),), without=(("level", "easy"),)) == []


def test_an_excerpt_shows_the_words_in_their_surroundings():
    text = "x " * 60 + "the Red  Bar is here, " + "y " * 90
    parts = excerpt(text, [folded("red bar")])
    assert parts[0] == ("…", False)
    assert ("Red Bar", True) in parts
    assert parts[-1] == ("…", False)
    assert sum(len(part) for part, _ in parts) < 160
    # A letter with two small ones moves nothing else.
    assert ("bar", True) in excerpt("İ bar", [folded("BAR")])
    assert excerpt("nothing", ["zebra"]) == (("nothing", False),)


def test_composed_and_decomposed_letters_are_alike():
    assert folded("Caf\u00e9") == folded("CAFE\u0301")


@given(
    st.lists(st.text(st.sampled_from("aB.*\\E^$(?i)[ _\n\x00ß€😀\u202e"), max_size=8), max_size=5),
    st.text(st.sampled_from("aB.*\\E^$(?i)[ _\n\x00ß€😀\u202e"), min_size=1, max_size=3),
)
def test_words_are_found_exactly_where_python_finds_them(texts, words):
    there = holding(pa.array(texts, pa.large_string()), words)
    assert there.tolist() == [words in text for text in texts]
