"""What the reader chose, as a value that lives in the URL.

Unknown, missing and hostile query keys are tolerated: what can't be understood is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from atom.analysis.readings import Processes, Reading, processes
from atom.analysis.score_table import AnswerScores, answer_scores
from atom.views.facets import DATASET_FACET, SOURCE_FACET
from atom.views.failures.find import FIND_KEYS, NOTHING, Find
from atom.views.node_links import LONGEST, link_text, linked
from atom.views.overview.accuracy import answered_by_all
from atom.views.study_data import StudyData
from taxonomy import Path, format_path, parse_path

Outcome = Literal["right", "wrong"]
Measure = Literal["process", "outcome", "preference"]
"""What a number is: the steps, the final answer, or votes between answers."""
Process = Literal["sound", "flawed"]
Terse = Literal["yes", "no"]
Show = Literal["failed", "imperfect", "unscored", "all"]
KEYS = (
    "study", "model", "node", "criterion", "sample", "tag", "among", "without", "root", "judge",
    "outcome", "process", "terse", "measure", "reading", "show", "rests", "peers", "shared", "tree",
    *FIND_KEYS,
)  # fmt: skip
_USUAL = {"show": "failed", "reading": "strict"}
"""What is left out of a link, since it's so anyway."""
_CUT = 280
"""A path at least this long may have been cut in its link."""
_MOST_NAMED = 8


def _among(value: str | None, allowed: tuple[Any, ...]) -> Any:
    return value if value in allowed else None


@dataclass(frozen=True, kw_only=True)
class Filters:
    """The evidence chain and the filters.

    Attributes:
        study: the study's id, `demo:` before it for the bundled store.
        model: candidate id.
        node: path in the tree, any depth.
        criterion: criterion id.
        sample: sample id.
        tags: (facet, value) pairs that must all hold.
        among: (facet, value) pairs, of which one of each facet must hold.
        without: (facet, value) pairs of which none may hold.
        root: only checkpoints under this root of the tree.
        judge: id of the judge whose scores are looked at (or its name, as a link has it, until
            `known` has seen it); None = the study's own.
        outcome: only answers with this outcome.
        process: only answers whose steps hold (`sound`) or don't (`flawed`), as a whole.
        terse: only answers that say too little for that (`yes`), or enough (`no`).
        measure: what the numbers are; None = process where there is any.
        reading: whether means are over all steps, or over those that an answer speaks of.
        show: which checkpoints the list of failures is made of.
        rests: keep that list to the checkpoints that claims about capabilities rest on (`yes`).
        peers: other candidate ids shown beside the model.
        shared: only samples that every model gave an answer to.
        tree: version of the tree that criteria are looked at in; None = the study's own.
        find: what is looked for in the list of failures.
    """

    study: str = ""
    model: str | None = None
    node: Path = ()
    criterion: str | None = None
    sample: str | None = None
    tags: tuple[tuple[str, str], ...] = ()
    among: tuple[tuple[str, str], ...] = ()
    without: tuple[tuple[str, str], ...] = ()
    root: str | None = None
    judge: str | None = None
    outcome: Outcome | None = None
    process: Process | None = None
    terse: Terse | None = None
    measure: Measure | None = None
    reading: Reading = "strict"
    show: Show = "failed"
    rests: Literal["yes"] | None = None
    peers: tuple[str, ...] = ()
    shared: bool = False
    tree: str | None = None
    find: Find = NOTHING

    @classmethod
    def from_query(cls, query: Mapping[str, str | list[str]]) -> Self:
        """Read filters from query parameters; never raises."""

        def every(key: str) -> list[str]:
            value = query.get(key, [])
            items = [value] if isinstance(value, str) else list(value)
            return [item[:LONGEST] for item in items if isinstance(item, str) and item.strip()]

        def one(key: str) -> str | None:
            items = every(key)
            return items[-1] if items else None

        def labels(key: str) -> tuple[tuple[str, str], ...]:
            parted = (item.partition(":") for item in every(key))
            return tuple(dict.fromkeys((facet, value) for facet, mark, value in parted if mark))

        return cls(
            study=one("study") or "",
            model=one("model"),
            node=parse_path(one("node") or ""),
            criterion=one("criterion"),
            sample=one("sample"),
            tags=labels("tag"),
            among=labels("among"),
            without=labels("without"),
            root=one("root"),
            judge=one("judge"),
            outcome=_among(one("outcome"), get_args(Outcome)),
            process=_among(one("process"), get_args(Process)),
            terse=_among(one("terse"), get_args(Terse)),
            measure=_among(one("measure"), get_args(Measure)),
            reading=_among(one("reading"), get_args(Reading)) or "strict",
            show=_among(one("show"), get_args(Show)) or "failed",
            rests=_among(one("rests"), ("yes",)),
            peers=tuple(dict.fromkeys(every("peers"))),
            shared=one("shared") == "1",
            tree=one("tree"),
            find=Find.from_lists(every),
        )

    def to_query(self) -> dict[str, str | list[str]]:
        """Write filters as query parameters; what is not set is left out."""
        query: dict[str, str | list[str]] = {}
        for key in KEYS:
            value = getattr(self, key, None)
            if isinstance(value, str) and value and value != _USUAL.get(key):
                query[key] = value
        if self.node:
            query["node"] = link_text(self.node)
        for key, pairs in (("tag", self.tags), ("among", self.among), ("without", self.without)):
            if pairs:
                query[key] = [f"{facet}:{value}" for facet, value in pairs]
        if self.peers:
            query["peers"] = list(self.peers)
        if self.shared:
            query["shared"] = "1"
        if self.find != NOTHING:
            query.update(self.find.to_query())
        return query

    def but(self, **changes: object) -> Filters:
        """Return a copy with some fields changed.

        A screen has a door in every cell, so this is done without `dataclasses.replace`, which
        takes ten times as long.

        Raises:
            TypeError: there is no such field.
        """
        if unknown_fields := changes.keys() - self.__dict__.keys():
            raise TypeError(f"filters have no {', '.join(sorted(unknown_fields))}")
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__, **changes)
        return copy

    @property
    def narrowing(self) -> tuple[object, ...]:
        """Return what decides which checkpoints a view counts: a key for what is made of them."""
        return (*self.labels, self.root, self.judge, self.outcome, self.process, self.terse,
                self.shared, self.reading, self.tree)  # fmt: skip

    @property
    def answering(self) -> tuple[object, ...]:
        """Return what decides which answers a view counts: a key for what is made of them."""
        return (*self.labels, self.outcome, self.process, self.terse, self.shared)

    @property
    def labels(self) -> tuple[tuple[tuple[str, str], ...], ...]:
        """What narrows by labels: all that must hold, some of which must, none of which may."""
        return (self.tags, self.among, self.without)

    @property
    def cleared(self) -> Filters:
        """The same chain with every filter off."""
        return self.but(tags=(), among=(), without=(), root=None, judge=None, shared=False,
                        outcome=None, process=None, terse=None, show="failed", rests=None,
                        find=self.find.cleared)  # fmt: skip

    @property
    def active(self) -> int:
        """How many filters narrow every view; neither chain, reading nor list shown counts."""
        chosen = (
            self.outcome is not None,
            self.process is not None,
            self.terse is not None,
            self.root is not None,
            self.judge is not None,
            self.shared,
        )
        several = len({facet for facet, _ in self.among})
        return len(self.tags) + several + len(self.without) + sum(chosen)


def where_judges_differ(filters: Filters) -> Filters:
    """Return what lists the checkpoints on which judges differ, whatever else is looked for."""
    return filters.but(
        sample=None, criterion=None, show="all", rests=None,
        find=filters.find.cleared.but(states=("apart",)),
    )  # fmt: skip


def label_words(filters: Filters) -> list[str]:
    """Say in words which labels narrow a view: `level = easy`, `level = easy or odd`, `not ...`."""
    said = [f"{facet} = {value}" for facet, value in filters.tags]
    for name in dict.fromkeys(facet for facet, _ in filters.among):
        said.append(f"{name} = {' or '.join(text for key, text in filters.among if key == name)}")
    return [*said, *(f"not {facet} = {value}" for facet, value in filters.without)]


def measure_of(data: StudyData, filters: Filters) -> Measure:
    """Return what the numbers are: as chosen where there is any, else the first there is."""
    there: dict[Measure, bool] = {
        "process": data.has_process,
        "outcome": data.has_outcome,
        "preference": data.has_preference,
    }
    if filters.measure is not None and there[filters.measure]:
        return filters.measure
    return next((name for name, any_ in there.items() if any_), "outcome")


def answer_values(data: StudyData, filters: Filters, measure: Measure) -> NDArray[np.float64]:
    """Return every answer's value by a measure, shape (R,), in [0, 1]; NaN where there is none.

    By process it's the sample score (METHODS A1) over the checkpoints that the root filter keeps,
    all of them or those that the answer addresses.
    """
    table = data.table
    if measure == "process":
        return root_scores(data, filters.root, filters.reading).value
    if measure == "outcome":
        return table.outcome.astype(np.float64)
    return table.preferred.astype(np.float64)


def root_scores(
    data: StudyData, root: str | None = None, reading: Reading = "strict"
) -> AnswerScores:
    """Score every answer over its checkpoints under a root of the tree; over all when None.

    Carried steps count: they are the answer's own.

    Args:
        root: name of the root.
        reading: over all steps, or over those that the answer addresses.
    """

    def make() -> AnswerScores:
        rows = rows_in_node(data, (root,)) if root else None
        if reading == "said":
            said = data.table.addressed
            rows = said if rows is None else rows & said
        return answer_scores(data.table, rows)

    return data.table.kept.get(("scores", root, reading), make)


def processes_of(data: StudyData) -> Processes:
    """Say of every answer whether its process holds, all its checkpoints together."""
    return data.table.kept.get("processes", lambda: processes(data.table))


def answers_kept(data: StudyData, filters: Filters) -> NDArray[np.bool_]:
    """Say which answers a view counts, shape (R,); read-only.

    Quarantined samples never enter; tags and outcome narrow; the chain (model, node, ...) doesn't.
    """
    key = ("answers", *filters.answering)
    return data.table.recent.get(key, lambda: _fixed(_answers_kept(data, filters)))


def _fixed(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Make a mask that is shared read-only."""
    mask.setflags(write=False)
    return mask


def _answers_kept(data: StudyData, filters: Filters) -> NDArray[np.bool_]:
    table = data.table
    keep = table.counts & ~table.quarantined[table.sample]
    if filters.shared:
        keep &= answered_by_all(table)[table.sample]
    for label in filters.tags:
        keep &= _labelled(data, (label,))
    for name in dict.fromkeys(facet for facet, _ in filters.among):
        keep &= _labelled(data, [label for label in filters.among if label[0] == name])
    if filters.without:
        keep &= ~_labelled(data, filters.without)
    if filters.outcome is not None:
        right = table.outcome >= 0.5
        keep &= np.isfinite(table.outcome) & (right if filters.outcome == "right" else ~right)
    if filters.process is not None:
        found = processes_of(data)
        keep &= found.sound if filters.process == "sound" else found.flawed
    if filters.terse is not None:
        found = processes_of(data)
        keep &= found.terse if filters.terse == "yes" else found.told
    return keep


def _labelled(data: StudyData, labels: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """Say which answers have any of some labels, shape (R,)."""
    has = np.zeros(len(data.table.sample), dtype=bool)
    for name, value in labels:
        facet = data.table.facets.get(name)
        if facet is not None and value in facet.values:
            has[facet.response[facet.value == facet.values.index(value)]] = True
    return has


def rows_kept(data: StudyData, filters: Filters) -> NDArray[np.bool_]:
    """Say which checkpoints a view counts, shape (N,): of answers kept, under the root chosen.

    Read-only.
    """
    key = ("rows", *filters.answering, filters.root)
    return data.table.masks.get(key, lambda: _fixed(_rows_kept(data, filters)))


def _rows_kept(data: StudyData, filters: Filters) -> NDArray[np.bool_]:
    keep = data.table.of_answers(answers_kept(data, filters))
    return keep & rows_in_node(data, (filters.root,)) if filters.root else keep


def rows_in_node(data: StudyData, node: Path) -> NDArray[np.bool_]:
    """Say which checkpoint rows hang under a node, shape (N,); all when the path is empty.

    Read-only.
    """
    return data.table.masks.get(("node", node), lambda: _fixed(_rows_in_node(data, node)))


def _rows_in_node(data: StudyData, node: Path) -> NDArray[np.bool_]:
    if not node:
        return np.ones(len(data.table.score), dtype=bool)
    return np.take(leaves_under(data, node), data.table.leaf)


def leaves_under(data: StudyData, node: Path) -> NDArray[np.bool_]:
    """Say which leaves hang under a node; one place more, at the end, for rows without: leaf -1."""
    inside = [leaf[: len(node)] == node for leaf in data.table.leaves]
    return np.array([*inside, False], dtype=bool)


def roots_of(data: StudyData) -> tuple[str, ...]:
    """Return the roots of the tree that the study's criteria hang under, in its order."""
    return tuple(dict.fromkeys(leaf[0] for leaf in data.table.leaves if leaf))


def unknown(data: StudyData, filters: Filters) -> tuple[str, ...]:
    """Say what a link names that the study hasn't, a sentence each; such names are ignored."""
    found = []
    if filters.model is not None and data.model_id(filters.model) is None:
        found.append(_no("model", filters.model, [one.name for one in data.candidates]))
    for peer in (*filters.peers, *filters.find.fails, *filters.find.passes):
        if data.model_id(peer) is None:
            found.append(_no("model", peer, [one.name for one in data.candidates]))
    if filters.root is not None and filters.root not in roots_of(data):
        found.append(_no("root", filters.root, roots_of(data)))
    for given in (filters.node, *filters.find.within, *filters.find.outside):
        node = linked(given, _nodes(data))
        if node and not _in_tree(data, node):
            heads = tuple(root.name for root in data.tree.roots) if data.tree else roots_of(data)
            found.append(_no("capability", format_path(node), heads))
    if filters.tree is not None and filters.tree != data.study.tree_version:
        found.append(f"This study has no tree {_cut(filters.tree)}; its own is shown.")
    if filters.judge is not None and data.judge_id(filters.judge) is None:
        found.append(_no("judge", filters.judge, _judges_told(data)))
    for name, value in (label for labels in filters.labels for label in labels):
        facet = data.table.facets.get(name)
        if facet is None:
            found.append(_no("label", f"{name}: {value}", list(data.table.facets)))
        elif value not in facet.values:
            found.append(_no(label_name(name).lower(), value, facet.values))
    return tuple(dict.fromkeys(found))


def known(data: StudyData, filters: Filters) -> Filters:
    """Return the filters without what the study hasn't; the sample stays: its page says so.

    The name of a model or judge becomes its id.
    """
    facets = data.table.facets

    def models(given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for one in given if (name := data.model_id(one)) is not None)

    def there(labels: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple(
            (name, value)
            for name, value in labels
            if name in facets and value in facets[name].values
        )

    def nodes(given: tuple[Path, ...]) -> tuple[Path, ...]:
        meant = (linked(node, _nodes(data)) for node in given)
        return tuple(node for node in meant if _in_tree(data, node))

    find = filters.find
    node = linked(filters.node, _nodes(data))
    if find != NOTHING:
        find = find.but(fails=models(find.fails), passes=models(find.passes),
                        within=nodes(find.within), outside=nodes(find.outside))  # fmt: skip
    return filters.but(
        model=data.model_id(filters.model),
        peers=models(filters.peers),
        root=filters.root if filters.root in roots_of(data) else None,
        node=node if _in_tree(data, node) else (),
        judge=data.judge_id(filters.judge),
        tree=filters.tree if filters.tree == data.study.tree_version else None,
        tags=there(filters.tags),
        among=there(filters.among),
        without=there(filters.without),
        find=find,
    )


def _judges_told(data: StudyData) -> list[str]:
    """Name the judges as a link can name them: by id where two have one name."""
    names = [one.name for one in data.judges]
    return [one.name if names.count(one.name) == 1 else one.id for one in data.judges]


def label_name(facet: str) -> str:
    """Return what a screen calls a facet."""
    if facet == DATASET_FACET:
        return "Data set"
    if facet == SOURCE_FACET:
        return "Source"
    words = facet.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _nodes(data: StudyData) -> Iterator[Path]:
    """Give every node that the study's checkpoints or its tree have."""
    for leaf in data.table.leaves:
        yield from (leaf[:depth] for depth in range(1, len(leaf) + 1))
    if data.tree is not None:
        yield from (path for path, _ in data.tree.walk())


def _in_tree(data: StudyData, node: Path) -> bool:
    """Say whether a path (or one written the same way in a link) is a node of the study's tree."""
    wanted = format_path(node)
    leaves = data.table.leaves
    if any(leaf[: len(node)] == node for leaf in leaves):
        return True
    if data.tree is None:
        return False
    if node in data.tree:
        return True
    written = [format_path(parse_path(format_path(path))) for path, _ in data.tree.walk()]
    return wanted in written or (
        len(wanted) >= _CUT and any(text.startswith(wanted) for text in written)
    )


def _no(kind: str, given: str, there: Sequence[str]) -> str:
    if not there:
        return f"This study has no {kind} {_cut(given)}, nor any other; it was ignored."
    names = ", ".join(str(name)[:40] for name in there[:_MOST_NAMED])
    rest = len(there) - _MOST_NAMED
    more = f" and {rest} more" if rest > 0 else ""
    return f"This study has no {kind} {_cut(given)}; it was ignored. There are: {names}{more}."


def _cut(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
