"""Clusters that ask one question several times, such as of a picture at four rotations."""

from __future__ import annotations

import sqlalchemy as sa

from atom.store.store import Store


def asks_again(store: Store, study_id: str) -> bool:
    """Whether a cluster of this study holds one question more than once."""
    with store.read() as connection:
        found = connection.execute(
            sa.text(
                "SELECT 1 FROM samples s JOIN study_samples p ON p.sample_id = s.id "
                "WHERE p.study_id = :study AND s.cluster IS NOT NULL "
                "GROUP BY s.cluster, s.question HAVING count(*) > 1 LIMIT 1"
            ).bindparams(study=study_id)
        ).first()
    return found is not None
