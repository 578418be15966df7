"""Pure statistics on the score table."""

from atom.analysis.intervals import Cells, NodeStats, make_cells, node_stats, wilson
from atom.analysis.quadrant import Quadrant, quadrant
from atom.analysis.ranking import RankSets, rank_sets
from atom.analysis.score_table import (
    FAILED,
    PASS_SCORE,
    UNSCORED,
    AnswerScores,
    Facet,
    ScoreTable,
    answer_scores,
)

__all__ = [
    "FAILED",
    "PASS_SCORE",
    "UNSCORED",
    "AnswerScores",
    "Cells",
    "Facet",
    "NodeStats",
    "Quadrant",
    "RankSets",
    "ScoreTable",
    "answer_scores",
    "make_cells",
    "node_stats",
    "quadrant",
    "rank_sets",
    "wilson",
]
