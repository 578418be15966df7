import pytest

from atom.judgebench.base import BenchResult, MetricRow, MetricTable
from atom.ui.lab.bench.multi_crit import matrix
from atom.views.lab.multi_crit import conflict_matrices


def row(metric, label, value=50.0, lo=40.0, hi=60.0, n=10, group="reasoning"):
    return MetricRow(metric=metric, label=label, value=value, lo=lo, hi=hi, chance=25.0, n=n,
                     group=group)  # fmt: skip


@pytest.fixture
def result():
    criteria = [row("criterion_accuracy", name) for name in ("Grounding", "Logic", "<b>Tone</b>")]
    conflicts = [
        row("conflict_matched", "Grounding against Logic", 80, 60, 95, 20),
        row("conflict_matched", "Logic against <b>Tone</b>", 10, 2, 20, 40),
    ]
    return BenchResult(
        headline=(),
        tables=(
            MetricTable(title="Right by criterion", rows=(*criteria, criteria[0])),
            MetricTable(title="Conflicts", rows=tuple(conflicts)),
        ),
    )


def test_conflicts_are_laid_out_by_criteria(result):
    found = conflict_matrices(result)[0]
    assert (found.split, found.names) == ("reasoning", ("Grounding", "Logic", "<b>Tone</b>"))
    assert {at: (cell.n, cell.standing) for at, cell in found.cells.items()} == {
        (0, 1): (20, "above"), (1, 2): (40, "below"),
    }  # fmt: skip
    assert conflict_matrices(BenchResult(headline=())) == ()


def test_the_matrix_reads_without_colour_and_escapes_names(result):
    drawn = str(matrix(conflict_matrices(result)[0]))
    for words in ("▲ 80 %", "▼ 10 %", "of 40", "no conflict", 'scope="row"', "below chance"):
        assert words in drawn
    assert "<b>Tone" not in drawn
