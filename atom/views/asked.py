"""What a question in words opens: a view whose every part the study has.

A wanted view may come from rules or from a judge that read names of the study, which are foreign
text. Whatever it says, only what stands here can come of it: one of five pages, names that are
looked up in the study, and words of closed sets. Nothing in it is followed, shown or carried out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, get_args
from urllib.parse import urlencode

from atom.asked.view_request import Page, ViewRequest, Vocabulary
from atom.records import TAG_FACET
from atom.views.failures.find import NOTHING
from atom.views.filters import Filters
from atom.views.study_data import StudyData
from taxonomy import Path

PAGES: Final[dict[Page, tuple[str, str]]] = {
    "overview": ("", "Overview"),
    "tree": ("tree", "Capability tree"),
    "fingerprints": ("fingerprints", "Fingerprints"),
    "failures": ("failures", "Failures"),
    "compare": ("compare", "Compare"),
}
"""Page → its address in the app, and its name."""
_MEASURES: Final = {"process": "by steps", "outcome": "by final answers", "preference": "by votes"}
_TABS: Final = {"answers": "answer by answer", "apart": "who is told apart",
                "errors": "kinds of error"}  # fmt: skip
_SORTS: Final = {"failed": "most failed checkpoints first", "score": "lowest score first",
                 "models": "failed by most models first",
                 "spread": "where models differ most first"}  # fmt: skip
_SHOWS: Final = {"imperfect": "not perfect", "unscored": "unscored", "all": "everything"}
_LAYOUTS: Final = {"grid": "as a grid", "groups": "in groups"}
MOST_CAPABILITIES: Final = 300
MOST_VALUES: Final = 40
EXAMPLES: Final = (
    "where does B lose to A on charts?",
    "what is model-a weakest at?",
    "wrong answers on hard questions",
)
"""What a question may look like."""


@dataclass(frozen=True, kw_only=True)
class OpenedView:
    """A view that a question opens.

    Attributes:
        page: url path of the page.
        filters: what it shows.
        local: keys of that page alone, such as its tab.
        said: what was understood, in words.
        left: what wasn't: words, and names that the study hasn't.
    """

    page: str
    filters: Filters
    local: dict[str, str]
    said: str
    left: tuple[str, ...]

    @property
    def address(self) -> str:
        """The view's address, relative to the app."""
        query: dict[str, str | list[str]] = {**self.filters.to_query(), **self.local}
        text = urlencode(query, doseq=True)
        return f"./{self.page}?{text}" if text else f"./{self.page}"


def vocabulary_of(data: StudyData) -> Vocabulary:
    """Return the names that a study has: models, capabilities with marks, labels."""
    return Vocabulary(
        models=tuple(one.name for one in data.candidates),
        capabilities=tuple(" › ".join(path) for path in _nodes(data)[:MOST_CAPABILITIES]),
        labels={
            name: tuple(facet.values[:MOST_VALUES])
            for name, facet in data.table.facets.items()
            if name != TAG_FACET or len(facet.values) <= MOST_VALUES
        },
    )


def _nodes(data: StudyData) -> list[Path]:
    """Return capabilities that anything hangs under, the higher ones first."""
    paths = {leaf[:depth] for leaf in data.table.leaves for depth in range(1, len(leaf) + 1)}
    return sorted(paths, key=lambda path: (len(path), path))


def opened(data: StudyData, study: str, wanted: ViewRequest) -> OpenedView | None:
    """Make the view of what was wanted, of nothing but what the study has.

    Args:
        study: its key, for addresses.
        wanted: as rules or a judge said it.

    Returns:
        The view; None where no page was understood.
    """
    if wanted.page not in PAGES:
        return None
    page = wanted.page
    left = [_short(one) for one in wanted.not_understood]
    filters, words = Filters(study=study), list[str]()
    models = _models(data, wanted, left)
    if models and page != "overview":
        filters = filters.but(model=models[0], peers=models[1:] if page == "compare" else ())
        words.append(_who(data, models if page == "compare" else models[:1], page))
    elif models:
        filters = filters.but(model=models[0])
        words.append(_who(data, models[:1], page))
    node = _capability(data, wanted.capability, left)
    if node:
        filters = filters.but(node=node)
        words.append(f"within {node[-1]}")
    tags = _labels(data, wanted, left)
    if tags:
        filters = filters.but(tags=tags)
        words += [f"{facet} = {value}" for facet, value in tags]
    filters = _measured(data, filters, wanted, words, left)
    filters = filters.but(outcome=wanted.outcome, process=wanted.process)
    words += [f"final answer {wanted.outcome}"] if wanted.outcome else []
    words += [f"steps {wanted.process}"] if wanted.process else []
    local: dict[str, str] = {}
    if page == "failures":
        filters = _failures(data, filters, wanted, words, local, left)
    elif page == "fingerprints":
        _fingerprints(data, wanted, words, local, left)
    said = PAGES[page][1] + (f": {', '.join(words)}" if words else "")
    return OpenedView(page=PAGES[page][0], filters=filters, local=local, said=said,
                      left=tuple(dict.fromkeys(left)))  # fmt: skip


def _who(data: StudyData, models: tuple[str, ...], page: Page) -> str:
    names = {one.id: one.name for one in data.candidates}
    told = [_short(names[one]) for one in models]
    return f"{told[0]} against {told[1]}" if page == "compare" and len(told) > 1 else told[0]


def _models(data: StudyData, wanted: ViewRequest, left: list[str]) -> tuple[str, ...]:
    found = []
    for name in wanted.models:
        model = data.model_id(name)
        if model is None:
            left.append(f"model {_short(name)}")
        elif model not in found:
            found.append(model)
    return tuple(found)


def _capability(data: StudyData, name: str, left: list[str]) -> Path:
    """Look a capability up by its path, or by a name that stands alone."""
    if not name:
        return ()
    nodes = _nodes(data)
    for path in nodes:
        if " › ".join(path) == name or "/".join(path) == name:
            return path
    last = name.rsplit("›", 1)[-1].strip().lower()
    found = [path for path in nodes if path[-1].lower() == last]
    if found:
        return found[0]
    left.append(f"capability {_short(name)}")
    return ()


def _labels(data: StudyData, wanted: ViewRequest, left: list[str]) -> tuple[tuple[str, str], ...]:
    found = []
    for label in wanted.labels:
        facet = data.table.facets.get(label.facet)
        if facet is not None and label.value in facet.values:
            found.append((label.facet, label.value))
        else:
            left.append(f"{_short(label.facet)} = {_short(label.value)}")
    return tuple(dict.fromkeys(found))


def _measured(
    data: StudyData, filters: Filters, wanted: ViewRequest, words: list[str], left: list[str]
) -> Filters:
    there = {"process": data.has_process, "outcome": data.has_outcome,
             "preference": data.has_preference}  # fmt: skip
    if wanted.measure is None:
        return filters
    if not there[wanted.measure]:
        left.append(f"{_MEASURES[wanted.measure]}: this study has none")
        return filters
    words.append(_MEASURES[wanted.measure])
    return filters.but(measure=wanted.measure)


def _failures(
    data: StudyData,
    filters: Filters,
    wanted: ViewRequest,
    words: list[str],
    local: dict[str, str],
    left: list[str],
) -> Filters:
    search = " ".join(wanted.search.split())
    find = NOTHING.but(words=search, sort=wanted.sort)
    if wanted.show != "disputed":
        filters = filters.but(show=wanted.show, find=find)
    elif data.table.apart is None:
        left.append("where judges differ: one judge marked this study")
        filters = filters.but(find=find)
    else:
        words.append("where judges differ")
        filters = filters.but(show="all", find=find.but(states=("apart",)))
    if search:
        words.append(f"search “{_short(search)}”")
    if wanted.layout != "list":
        local["lay"] = wanted.layout
    words += [text for text in (_SHOWS.get(wanted.show), _SORTS.get(wanted.sort),
                                _LAYOUTS.get(wanted.layout)) if text]  # fmt: skip
    if wanted.sample is not None:
        ids = data.table.sample_ids
        if wanted.sample <= len(ids):
            words.append(f"sample no. {wanted.sample}")
            return filters.but(sample=ids[wanted.sample - 1], show="all")
        left.append(f"sample {wanted.sample}: there are {len(ids):,}")
    return filters


def _fingerprints(
    data: StudyData, wanted: ViewRequest, words: list[str], local: dict[str, str], left: list[str]
) -> None:
    if wanted.tab is not None:
        local["tab"] = wanted.tab
        words.append(_TABS[wanted.tab])
    if wanted.facet in data.table.facets and wanted.facet != TAG_FACET:
        local["facet"] = wanted.facet
        words.append(f"by {wanted.facet}")
    elif wanted.facet:
        left.append(f"by {_short(wanted.facet)}")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:59] + "…"


def told(question: str, found: OpenedView | None, wanted: ViewRequest) -> dict[str, Any]:
    """Return what came of a question, for a program."""
    return {
        "question": question,
        "understood": found.said if found else None,
        "address": found.address if found else None,
        "page": wanted.page if wanted.page in get_args(Page) else None,
        "not_understood": list(found.left if found else wanted.not_understood),
    }
