"""What goes when answers or questions are replaced by others under the same ids.

Marks, votes and labels were given to the old words; under the new ones they would be lies.
"""

from __future__ import annotations

import sqlalchemy as sa

from atom.store.store import Writer


def forget_changed(writer: Writer, study_id: str) -> None:
    """Remove what an import replaces, with all that hangs on it.

    Args:
        writer: the transaction; `changed_<table>` name the keys that go.
        study_id: the study that it happens in.
    """

    def run(sql: str) -> int:
        return writer.execute(sa.text(sql)).rowcount

    inside = "strpos" if writer.is_postgresql else "instr"
    run("DROP TABLE IF EXISTS gone_responses")
    run("CREATE TEMPORARY TABLE gone_responses AS SELECT id FROM changed_responses")
    run(
        "INSERT INTO gone_responses SELECT id FROM responses WHERE sample_id IN "
        "(SELECT id FROM changed_samples) AND id NOT IN (SELECT id FROM gone_responses)"
    )
    while run(
        "INSERT INTO gone_responses SELECT id FROM responses WHERE parent_id IN "
        "(SELECT id FROM gone_responses) AND id NOT IN (SELECT id FROM gone_responses)"
    ):
        pass
    gone, samples = "(SELECT id FROM gone_responses)", "(SELECT id FROM changed_samples)"
    criteria = f"(SELECT id FROM criteria WHERE sample_id IN {samples})"
    marks = (
        f"(SELECT key FROM checkpoints WHERE response_id IN {gone} OR criterion_id IN {criteria})"
    )
    named = "EXISTS (SELECT 1 FROM gone_responses g WHERE {}({}, g.id) > 0)"
    for sql in (
        f"DELETE FROM annotations WHERE subject_id IN {marks} OR subject_id IN {criteria} "
        f"OR subject_id IN {samples}",
        "DELETE FROM annotations WHERE kind = 'preference' AND "
        + named.format(inside, "annotations.subject_id"),
        "DELETE FROM annotations WHERE kind = 'ranking' AND "
        + named.format(inside, "annotations.ranks"),
        f"DELETE FROM verdicts WHERE subject_id IN {samples} OR "
        + named.format(inside, "verdicts.part"),
        f"DELETE FROM checkpoints WHERE response_id IN {gone} OR criterion_id IN {criteria}",
        f"DELETE FROM outcomes WHERE response_id IN {gone}",
        f"DELETE FROM preferences WHERE response_a IN {gone} OR response_b IN {gone}",
        f"DELETE FROM corrections WHERE response_id IN {gone} OR result_id IN {gone}",
        f"DELETE FROM hints WHERE response_id IN {gone}",
        f"DELETE FROM responses WHERE id IN {gone}",
        f"UPDATE study_samples SET replay_id = NULL, criteria_set_id = NULL WHERE sample_id IN "
        f"{samples}",
        f"DELETE FROM mappings WHERE criterion_id IN {criteria}",
        f"DELETE FROM criteria_sets WHERE sample_id IN {samples}",
        f"DELETE FROM replays WHERE sample_id IN {samples}",
        f"DELETE FROM criteria WHERE sample_id IN {samples}",
        f"DELETE FROM samples WHERE id IN {samples}",
        "DELETE FROM outcomes WHERE how = 'imported' AND response_id IN "
        "(SELECT response_id FROM changed_outcomes)",
        "DELETE FROM tags WHERE EXISTS (SELECT 1 FROM changed_tags c WHERE c.subject = "
        "tags.subject AND c.subject_id = tags.subject_id AND c.source = tags.source "
        "AND c.facet = tags.facet)",
        "DELETE FROM preferences WHERE id IN (SELECT id FROM changed_preferences)",
        "DELETE FROM annotations WHERE id IN (SELECT id FROM changed_annotations)",
        "DELETE FROM verdicts WHERE key IN (SELECT key FROM changed_verdicts)",
    ):
        run(sql)
