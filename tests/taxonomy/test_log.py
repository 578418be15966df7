import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomy.edits import Add, Drop, EditError, Merge, Move, Rename
from taxonomy.log import describe, dump_edit, edit_kind, parse_edit

names = st.text(min_size=1, max_size=8)
paths = st.lists(names, min_size=1, max_size=4).map(tuple)
edits = st.one_of(
    st.builds(Add, paths, names, st.text(max_size=20)),
    st.builds(Rename, paths, names),
    st.builds(Move, paths, paths),
    st.builds(Merge, paths, paths),
    st.builds(Drop, paths),
)


@given(edits)
def test_an_edit_comes_back_as_it_was(edit):
    assert parse_edit(dump_edit(edit)) == edit
    assert edit_kind(edit) in dump_edit(edit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"kind": "burn", "path": ["A"]}',
        '{"kind": "drop"}',
        '{"kind": "drop", "path": "A"}',
        '{"kind": "drop", "path": ["A"], "more": 1}',
        '{"kind": "rename", "path": ["A"], "name": ["B"]}',
    ],
)
def test_anything_else_is_refused_in_words(text):
    with pytest.raises(EditError, match="edit"):
        parse_edit(text)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (Add(("A", "B"), "C"), "add A › B › C"),
        (Rename(("A", "B"), "C"), "rename A › B to C"),
        (Move(("A", "B"), ("C",)), "move A › B under C"),
        (Merge(("A", "B"), ("A", "C")), "merge A › B into A › C"),
        (Drop(("A", "B")), "drop A › B"),
    ],
)
def test_edits_in_words(edit, words):
    assert describe(edit) == words
