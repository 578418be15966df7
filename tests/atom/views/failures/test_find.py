import pytest

from atom.views.failures.find import NOTHING, Find, Term, cut_up
from atom.views.filters import Filters, known, unknown


@pytest.mark.parametrize(
    ("typed", "terms"),
    [
        ("", []),
        ("  red   bar ", [Term(text="red"), Term(text="bar")]),
        ('"red bar" -blue', [Term(text="red bar"), Term(text="blue", wanted=False)]),
        ('-"no picture"', [Term(text="no picture", wanted=False)]),
        ('12" wide', [Term(text='12"'), Term(text="wide")]),
        ('"open', [Term(text='"open')]),
        ("- a -", [Term(text="-"), Term(text="a")]),
        ("-3", [Term(text="3", wanted=False)]),
        ("a a", [Term(text="a")]),
        (".* (x|y)+ %_ '; DROP", [Term(text=one) for one in (".*", "(x|y)+", "%_", "';", "DROP")]),
    ],
)
def test_what_was_typed_is_cut_into_words_and_phrases(typed, terms):
    assert list(cut_up(typed)) == terms


def test_no_more_than_twelve_words_are_looked_for():
    assert len(cut_up(" ".join(str(number) for number in range(99)))) == 12


def test_a_search_lives_in_the_address():
    find = Find(
        words='"red bar" -x', places=("answer", "reason"), sort="spread", fails=("a", "b"),
        passes=("c",), within=(("P", "Q"),), outside=(("S",),), states=("scored",),
        stateless=("silent", "carried"),
    )  # fmt: skip
    filters = Filters(study="s", among=(("k", "v"), ("k", "w")), without=(("k", "x"),), find=find)
    assert Filters.from_query(filters.to_query()) == filters
    assert Filters().to_query() == {}


def test_hostile_queries_are_dropped():
    query = {"q": ["x" * 5000], "in": ["body", "answer"], "sort": "rm -rf", "state": ["", "\x00"],
             "within": ["", " "], "fails": "' OR 1=1"}  # fmt: skip
    find = Filters.from_query(query).find
    assert find == Find(words="x" * 300, places=("answer",), fails=("' OR 1=1",))


def test_what_is_looked_for_is_counted_and_cleared():
    find = Find(words="a b", sort="failed", fails=("m",), stateless=("silent",))
    assert (find.narrows, find.by_results) == (3, True)
    assert find.cleared == Find(sort="failed")
    assert (NOTHING.narrows, NOTHING.by_results) == (0, False)
    assert Filters(find=find).cleared == Filters(find=Find(sort="failed"))


def test_names_that_a_study_has_not_are_said_and_dropped(data):
    find = Find(fails=("cand-a", "Candidate B", "cand-z"), within=(("Smell",), ("Perception",)))
    filters = Filters(find=find, among=(("level", "odd"),), without=(("mood", "good"),))
    assert len(unknown(data, filters)) == 4
    kept = known(data, filters)
    assert kept.find == Find(fails=("cand-a", "cand-b"), within=(("Perception",),))
    assert (kept.among, kept.without) == ((), ())
