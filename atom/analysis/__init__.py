"""Pure statistics on the score table."""

from atom.analysis.chain import FirstBreaks, first_breaks
from atom.analysis.contrasts import Contrasts, PeerResiduals, contrast_vs_rest, peer_residuals
from atom.analysis.criteria_health import (
    CriteriaHealth,
    RepeatAgreement,
    Twins,
    criteria_health,
    near_duplicates,
    ordinal_alpha,
    repeat_agreement,
)
from atom.analysis.cube import Cube, NodeIndex, NodeValues, index_nodes, make_cube
from atom.analysis.fingerprints import Identification, Profiles, identify, profiles
from atom.analysis.guessing import lucky_by_guessing, phi_coefficient
from atom.analysis.intervals import Cells, NodeStats, make_cells, node_stats, wilson
from atom.analysis.irt import TwoWay
from atom.analysis.layout import Layout, facet_layout, tree_layout
from atom.analysis.multiplicity import TreeDiscoveries, adjust, simes, tree_bh
from atom.analysis.paired import (
    McNemar,
    PairedGap,
    PairedNodes,
    mcnemar,
    mcnemar_of,
    paired_gap,
    paired_nodes,
    paired_overall,
    sign_flip,
)
from atom.analysis.power import detection_power, needed_pairs, needed_samples
from atom.analysis.preference import (
    Games,
    StrengthIntervals,
    Strengths,
    davidson,
    strength_intervals,
    tally,
)
from atom.analysis.quadrant import Quadrant, quadrant
from atom.analysis.rank_patterns import RankPatterns, TopPattern, rank_patterns
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
from atom.analysis.shrinkage import Shrunk, shrink_flat, shrink_nested, shrink_to_zero
from atom.analysis.weaknesses import (
    LABELS,
    Diagnosis,
    DiagnosisSettings,
    Finding,
    Frame,
    Label,
    default_frame,
    diagnose,
)
from atom.analysis.weights import WeightSensitivity, weight_sensitivity

__all__ = [
    "FAILED",
    "LABELS",
    "PASS_SCORE",
    "UNSCORED",
    "AnswerScores",
    "Cells",
    "Contrasts",
    "CriteriaHealth",
    "Cube",
    "Diagnosis",
    "DiagnosisSettings",
    "Facet",
    "Finding",
    "FirstBreaks",
    "Frame",
    "Games",
    "Identification",
    "Label",
    "Layout",
    "McNemar",
    "NodeIndex",
    "NodeStats",
    "NodeValues",
    "PairedGap",
    "PairedNodes",
    "PeerResiduals",
    "Profiles",
    "Quadrant",
    "RankPatterns",
    "RankSets",
    "RepeatAgreement",
    "ScoreTable",
    "Shrunk",
    "StrengthIntervals",
    "Strengths",
    "TopPattern",
    "TreeDiscoveries",
    "Twins",
    "TwoWay",
    "WeightSensitivity",
    "adjust",
    "answer_scores",
    "contrast_vs_rest",
    "criteria_health",
    "davidson",
    "default_frame",
    "detection_power",
    "diagnose",
    "facet_layout",
    "first_breaks",
    "identify",
    "index_nodes",
    "lucky_by_guessing",
    "make_cells",
    "make_cube",
    "mcnemar",
    "mcnemar_of",
    "near_duplicates",
    "needed_pairs",
    "needed_samples",
    "node_stats",
    "ordinal_alpha",
    "paired_gap",
    "paired_nodes",
    "paired_overall",
    "peer_residuals",
    "phi_coefficient",
    "profiles",
    "quadrant",
    "rank_patterns",
    "rank_sets",
    "repeat_agreement",
    "shrink_flat",
    "shrink_nested",
    "shrink_to_zero",
    "sign_flip",
    "simes",
    "strength_intervals",
    "tally",
    "tree_bh",
    "tree_layout",
    "weight_sensitivity",
    "wilson",
]
