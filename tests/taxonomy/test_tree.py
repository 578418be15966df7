import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxonomy import (
    DEPTH,
    Node,
    Tree,
    TreeFormatError,
    format_path,
    load_anchors,
    load_general,
    parse_path,
    parse_tree,
    to_json,
    to_yaml,
    tree_version,
)

TEXT = """
name: Small
roots:
  - name: Perception
    meaning: Seeing.
    children:
      - name: Object
        children:
          - name: Counting
            children:
              - name: Count all
              - name: Count some
"""

names = (
    st.text(st.characters(codec="utf-8", exclude_characters="›>»→/"), min_size=1, max_size=12)
    .map(lambda text: " ".join(text.split()))
    .filter(bool)
)


def test_a_tree_is_walked_parents_first_in_its_order():
    tree = parse_tree(TEXT)
    assert [path[-1] for path, _ in tree.walk()] == [
        "Perception",
        "Object",
        "Counting",
        "Count all",
        "Count some",
    ]
    assert tree.leaves[1] == ("Perception", "Object", "Counting", "Count some")


def test_a_leaf_is_found_though_case_and_spacing_differ():
    tree = parse_tree(TEXT)
    assert (
        tree.find_leaf(parse_path("perception > OBJECT ›  counting > count  all")) == tree.leaves[0]
    )
    assert tree.find_leaf(("Perception", "Object")) is None


def test_a_missing_node_is_named():
    with pytest.raises(KeyError, match="no node 'Perception › Sound'"):
        parse_tree(TEXT).node(("Perception", "Sound"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "isn't valid YAML"),
        ("- 1", "the keys `name` and `roots`"),
        ("roots: 3", "expected a list of nodes"),
        ("roots: [{name: 3}]", "a node's name is text"),
        ("roots: [{name: A, colour: red}]", "a node has"),
        ("roots: [{name: A}, {name: a}]", "share a name"),
        ("roots: [{name: A, children: [{name: B}]}]", "leaves lie at layer 4"),
    ],
)
def test_what_is_not_a_tree_says_why(text, message):
    with pytest.raises(TreeFormatError, match=message):
        parse_tree(text)


def test_yaml_and_json_give_the_tree_back_with_the_same_version():
    tree = parse_tree(TEXT)
    for text in (to_yaml(tree), to_json(tree)):
        assert parse_tree(text) == tree
        assert tree_version(parse_tree(text)) == tree_version(tree)


def test_the_version_is_about_the_nodes_and_not_the_name():
    tree = parse_tree(TEXT)
    assert tree_version(Tree("Other", tree.roots)) == tree_version(tree)
    assert tree_version(Tree("Small", (Node("Perception"),))) != tree_version(tree)


@given(st.lists(names, min_size=1, max_size=5))
def test_a_path_survives_being_written(path):
    assert parse_path(format_path(tuple(path))) == tuple(path)


def test_the_seed_tree_has_six_roots_and_at_least_24_leaves_with_meanings():
    tree = load_anchors()
    assert [root.name for root in tree.roots] == [
        "Perception",
        "Understanding",
        "Reasoning",
        "Knowledge",
        "Trustworthiness",
        "Generation",
    ]
    assert len(tree.leaves) >= 24
    assert all(node.meaning for _, node in tree.walk())


def test_the_general_tree_knows_nothing_of_the_probe_world():
    general, anchors = load_general(), load_anchors()
    assert [root.name for root in general.roots] == [root.name for root in anchors.roots]
    assert all(len(path) == DEPTH for path in general.leaves)
    assert all(node.meaning for _, node in general.walk())
    assert len({path[-1].casefold() for path in general.leaves}) == len(general.leaves)
    drawn = {path[-1].casefold() for path in anchors.leaves}
    assert not drawn & {path[-1].casefold() for path in general.leaves}
