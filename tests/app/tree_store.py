"""A store for tests of the tree's screens: as many leaves as wanted, hostile names among them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from atom.records import (
    Candidate,
    Checkpoint,
    CriteriaSet,
    Criterion,
    CriterionUse,
    Judge,
    Mapping,
    Response,
    Sample,
    Sampling,
    Study,
    StudyCandidate,
    StudySample,
    TreeRecord,
)
from atom.store import Store
from taxonomy import Node, Tree, to_json, tree_version
from taxonomy import Path as LeafPath

HOSTILE = '</script><script>window.pwned = 1</script><img src="http://evil.example/x.png">'
ROOTS = ("Perception", "Understanding", "Reasoning", "Knowledge", "Trustworthiness", "Generation")
JUDGING, ANSWERING = Sampling(temperature=0.0), Sampling(temperature=0.7)
JUDGE = Judge(id="judge-1", name="probe-judge", synthetic=True)
NAMES = ("model-a", "model-b", "model-c", "model-d")
PER_SAMPLE = 4


@dataclass(frozen=True, kw_only=True)
class MadeTree:
    """What was made."""

    folder: Path
    study: Study
    tree: Tree


def make_tree(n_leaves: int) -> Tree:
    """Make a four-layer tree with exactly so many leaves; the first leaf's name is hostile."""
    roots, made = [], 0
    per_root = [n_leaves // 6 + (number < n_leaves % 6) for number in range(6)]
    for name, wanted in zip(ROOTS, per_root, strict=True):
        parents, left = [], wanted
        while left:
            take = min(left, 5)
            leaves = tuple(
                Node(HOSTILE if made + n == 0 else f"Skill {made + n + 1}", f"Skill of {name}.")
                for n in range(take)
            )
            parents.append(Node(f"Group {len(parents) + 1} of {name}", "", leaves))
            made, left = made + take, left - take
        categories = [
            Node(f"{name} field {n // 4 + 1}", "", tuple(parents[n : n + 4]))
            for n in range(0, len(parents), 4)
        ]
        roots.append(Node(name, f"All of {name.lower()}.", tuple(categories)))
    return Tree(f"Tree of {n_leaves}", tuple(roots))


def make_tree_store(folder: Path, n_leaves: int, *, samples: int | None = None) -> MadeTree:
    """Make a judged study whose criteria are spread over all leaves.

    Scores depend on leaf and model, so that the tree is worth its leaves.

    Args:
        folder: where it goes.
        n_leaves: leaves of the tree.
        samples: how many samples; one and a half a leaf by default.
    """
    tree = make_tree(n_leaves)
    record = TreeRecord(version=tree_version(tree), name=tree.name, body=to_json(tree))
    study = Study(
        id=Study.make_id("Big study"),
        name="Big study",
        created="2026-01-01T00:00:00Z",
        synthetic=True,
        judge_id=JUDGE.id,
        tree_version=record.version,
    )
    rng = np.random.default_rng(5)
    level = rng.normal(0, 1.2, n_leaves)
    candidates = [Candidate(id=f"cand-{name}", name=name, synthetic=True) for name in NAMES]
    records: list = [record, JUDGE, study, *candidates]
    records += [
        StudyCandidate(study_id=study.id, candidate_id=candidate.id, position=place)
        for place, candidate in enumerate(candidates)
    ]
    for number in range(samples or n_leaves * 3 // 2):
        records += _sample(study, record.version, tree.leaves, level, number, rng)
    with Store.open(folder) as store:
        store.put(records)
    return MadeTree(folder=folder, study=study, tree=tree)


def _sample(
    study: Study,
    version: str,
    leaves: tuple[LeafPath, ...],
    level: np.ndarray,
    number: int,
    rng: np.random.Generator,
) -> list:
    sample = Sample(
        id=Sample.make_id("big", str(number)),
        dataset="big",
        source_id=str(number),
        question=f"Question {number}?",
        reference="1",
    )
    at = [(number * PER_SAMPLE + n * 7) % len(leaves) for n in range(PER_SAMPLE)]
    criteria = [
        Criterion(
            id=Criterion.make_id(sample.id, f"Criterion {n} of {number}?", str(n)),
            sample_id=sample.id,
            question=f"Criterion {n} of {number}?",
            ground_truth=str(n),
        )
        for n in range(PER_SAMPLE)
    ]
    uses = tuple(
        CriterionUse(criterion_id=criterion.id, position=n, weight=(1, 2, 3, 4)[n])
        for n, criterion in enumerate(criteria)
    )
    group = CriteriaSet(
        id=CriteriaSet.make_id(sample.id, JUDGE.id, "criteria/1", JUDGING),
        sample_id=sample.id,
        judge_id=JUDGE.id,
        replay_id="",
        prompt="criteria/1",
        sampling=JUDGING,
        state="scored",
        uses=uses,
    )
    made: list = [sample, *criteria, group]
    made += [
        Mapping(
            criterion_id=criterion.id,
            tree_version=version,
            judge_id=JUDGE.id,
            prompt="mapping/1",
            state="scored",
            leaf=leaves[at[n]],
        )
        for n, criterion in enumerate(criteria)
    ]
    made.append(
        StudySample(
            study_id=study.id, sample_id=sample.id, position=number, criteria_set_id=group.id
        )
    )
    for seat, name in enumerate(NAMES):
        response = Response(
            id=Response.make_id(sample.id, f"cand-{name}", "answer/1", ANSWERING),
            sample_id=sample.id,
            candidate_id=f"cand-{name}",
            prompt="answer/1",
            sampling=ANSWERING,
            text="One.",
        )
        made.append(response)
        for n, criterion in enumerate(criteria):
            score = int(np.clip(round(3 + level[at[n]] + 0.3 * seat + rng.normal(0, 0.7)), 1, 5))
            made.append(
                Checkpoint(
                    key=Checkpoint.make_key(
                        criterion.id, response.id, JUDGE.id, "scoring/1", JUDGING
                    ),
                    criterion_id=criterion.id,
                    response_id=response.id,
                    judge_id=JUDGE.id,
                    prompt="scoring/1",
                    sampling=JUDGING,
                    state="scored",
                    score=score,
                )
            )
    return made
