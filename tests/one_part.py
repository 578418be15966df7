"""What screens ask part by part, asked of a single part: for cases worked by hand."""

from __future__ import annotations

import numpy as np

from atom.analysis.compare.contrasts import Contrasts, contrast_sums, contrasts_of
from atom.analysis.compare.peers import PeerResiduals, fit_peers, residuals
from atom.analysis.compare.ranking import RankSets, pair_sums, paired, rank_sets_of
from atom.analysis.grounds import grounds_of
from atom.analysis.merged import of_one


def contrast_vs_rest(layout, value, keep) -> Contrasts:
    """Compare every node of every model with the model's rows outside it."""
    return contrasts_of(layout, contrast_sums(layout, np.where(keep, value, 0), keep))


def peer_residuals(layout, keep) -> PeerResiduals:
    """Take out of each row what the other models' scores predict for it."""
    grounds = grounds_of(layout, keep)
    return residuals(grounds, fit_peers(of_one(grounds), grounds.sums.means))


def rank_sets(total, count, alpha: float = 0.05) -> RankSets:
    """Bound every model's rank, of scores and how many they are by (cluster, model)."""
    return rank_sets_of(*paired(pair_sums(total.T, count.T)), alpha)
