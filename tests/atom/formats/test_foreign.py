import pytest

from atom.errors import FormatError
from atom.formats import read
from tests.imports import uploaded


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        ('{"description": "Reading", "subtrees": [1, 2]}', "as a tree"),
        ('{"size": 3, "sum_metrics": 1, "subtrees": 0}', "as a tree"),
        ('[{"capability": "Counting", "instances": [1]}]', "as a tree"),
        ('{"Recall": {"per-capability": {"x": 1}}}', "as a tree"),
        ('{"Counting many things": [null, "YES"]}', "as a tree"),
        ("[0, 1, 1]", "table with the questions"),
        ('["one", "two"]', "table with the questions"),
        ('{"0": {"origin_prompt": "x", "prediction": "y"}}', "judge bench critic_bench"),
        ("Model,feedback,correction,comparison\nm,1,2,3\n", "means of models"),
    ],
)
def test_known_files_without_answers_are_refused_with_advice(content, advice):
    with pytest.raises(FormatError, match=advice):
        read(None, [uploaded("x.json", content)])


@pytest.mark.parametrize(
    "content",
    ['{"rows": [{"question": "q"}]}', '[{"question": "capability"}]', '{"a": {"question": "q"}}'],
)
def test_tables_are_no_such_files(content):
    assert list(read(None, [uploaded("x.json", content)]))
