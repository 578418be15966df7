"""Replies as models write them: each is read to the right value, or refused with its reason."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from atom.methods import whole
from atom.stages import answer, criteria, mapping, outcome, replay, scoring, verdicts
from atom.stages.growing import same

# Each worker reads it while it collects, a tenth as long by the library in C.
CORPUS = yaml.load(
    (Path(__file__).parent / "reply_corpus.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader
)
NODE = same.NodeSketch(path=("A", "B", "C", "Needle"))
PAIRS = (same.NodePair(first=NODE, second=NODE),) * 2


class Read:
    """Reads a reply as its stage does; each value is a plain one, or why there is none."""

    def __init__(self, reply_of, sampling, **given):
        self.reply_of, self.sampling = reply_of, sampling
        self.given = given

    def __call__(self, entry):
        how = {"finish": entry.get("finish", "stop"), "refusal": entry.get("refusal")}
        return getattr(self, entry["form"])(lambda asked: self.reply_of(asked, entry["raw"], **how))

    def scoring(self, reply):
        sample, pictures, kept, criteria_, response = self.of(
            "sample", "pictures", "criteria_set", "criteria", "response"
        )
        asked = scoring.build(sample, pictures, kept, criteria_, response, self.sampling)
        found = scoring.parse(reply(asked), kept, criteria_, response, "j", self.sampling)
        return [p.score if p.state == "scored" else {"why": p.detail} for p in found]

    def criteria(self, reply):
        sample, pictures, solved = self.of("sample", "pictures", "solved")
        asked = criteria.build(sample, pictures, solved, self.sampling)
        found = criteria.parse(reply(asked), sample, solved, "j", self.sampling)
        if found.criteria_set.state != "scored":
            return {"why": found.criteria_set.detail}
        uses = found.criteria_set.uses
        pairs = zip(found.criteria, uses, strict=True)
        return [[c.ground_truth, use.weight] for c, use in pairs]

    def mapping(self, reply):
        sample, pictures, criteria_, tree = self.of("sample", "pictures", "criteria", "tree")
        asked = mapping.build(sample, pictures, criteria_, tree, self.sampling)
        found = mapping.parse(reply(asked), criteria_, tree, "v", "j")
        return [self.leaf(one) for one in found]

    @staticmethod
    def leaf(found):
        if found.state == "scored":
            return found.leaf[-1]
        return None if "found no leaf" in found.detail else {"why": found.detail}

    def replay(self, reply):
        sample, pictures = self.of("sample", "pictures")
        asked = replay.build(sample, pictures, self.sampling)
        found = replay.parse(reply(asked), sample, "j", self.sampling)
        scored = found.state == "scored"
        return [len(found.steps), found.final_answer] if scored else {"why": found.detail}

    def outcome(self, reply):
        sample, pictures, response = self.of("sample", "pictures", "response")
        asked = outcome.build(sample, pictures, response, self.sampling)
        found = outcome.parse(reply(asked), response, "j")
        words = {1.0: "right", 0.0: "wrong"}
        return words[found.value] if found.state == "scored" else {"why": found.detail}

    def same(self, reply):
        found = same.parse(reply(same.build(PAIRS, self.sampling)), PAIRS)
        return [one.same if one.same is not None else {"why": one.why} for one in found]

    def whole(self, reply):
        sample, pictures, solved, response = self.of("sample", "pictures", "solved", "response")
        asked = whole.build(sample, pictures, solved, response, self.sampling)
        blank = verdicts.blank("g", "s", "score", "j", whole.PROMPT, self.sampling)
        found = whole.parse(reply(asked), blank)
        return found.value if found.state == "scored" else {"why": found.detail}

    def answer(self, reply):
        sample, pictures = self.of("sample", "pictures")
        asked = answer.build(sample, pictures, self.sampling)
        found = answer.parse(reply(asked), sample, "c", self.sampling)
        return found.text if found.state == "scored" else {"why": found.detail}

    def of(self, *names):
        return tuple(self.given[name] for name in names)


@pytest.fixture
def read(
    reply_of, sampling, sample, pictures, criteria_set, criteria, response, solved, tree
):  # fmt: skip
    return Read(
        reply_of, sampling, sample=sample, pictures=pictures, criteria_set=criteria_set,
        criteria=criteria, response=response, solved=solved, tree=tree,
    )  # fmt: skip


def agrees(found, expected):
    """Whether what was found is what has to come of it, item by item."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and expected["why"] in found["why"]
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(map(agrees, found, expected))
        )
    return found == expected and isinstance(found, bool) == isinstance(expected, bool)


@pytest.mark.parametrize("entry", CORPUS, ids=lambda e: f"{e['form']}: {e['name']}")
def test_read_right_or_refused(entry, read):
    found = read(entry)
    assert agrees(found, entry["value"]), found


def test_the_corpus_is_wide():
    assert len(CORPUS) >= 150
    assert min(Counter(entry["form"] for entry in CORPUS).values()) >= 5
    assert len({(entry["form"], entry["name"]) for entry in CORPUS}) == len(CORPUS)
