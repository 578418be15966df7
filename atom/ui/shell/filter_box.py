"""The filters, in a popover; what is set there lives in the URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import streamlit as st

from atom.analysis.readings import Reading
from atom.display import numbers
from atom.records import TAG_FACET
from atom.ui import links
from atom.ui.plain import plain
from atom.ui.shell.glossary import meaning
from atom.views.facets import dataset_facet
from atom.views.filters import Filters, Show, label_name, processes_of, roots_of
from atom.views.overview.accuracy import answered_by_all
from atom.views.study_data import StudyData

SHOWS: dict[Show, str] = {
    "failed": "Failed (score 1–2)",
    "imperfect": "Not perfect (below 5)",
    "unscored": "Unscored or failed calls",
    "all": "Everything",
}
OUTCOMES = {"": "Any", "right": "Right answers only", "wrong": "Wrong answers only"}
PROCESSES = {"": "Any", "sound": "Sound (no step fails)", "flawed": "Flawed (a step fails)"}
TERSE = {"": "Any", "yes": "Terse answers only", "no": "Without terse answers"}
READ: dict[Reading, str] = {"strict": "Strict: all steps", "said": "Of what was said"}
_MOST_VALUES = 400
_ANY = ""
_WANTED, _UNWANTED = "+", "-"


def set_filters(filters: Filters) -> None:
    """Move to other filters on the same screen; what belongs to the screen alone stays."""
    held = links.clean_query({k: st.query_params.get_all(k) for k in st.query_params})
    local = {key: held[key] for key in links.LOCAL_KEYS if key in held and key != "at"}
    st.query_params.from_dict({**filters.to_query(), **local})


def draw(data: StudyData, filters: Filters) -> None:
    """Draw the button and the filters behind it."""
    active = filters.active + (filters.reading == "said")
    label = f"Filters ({active})" if active else "Filters"
    with st.popover(plain(label), width="stretch"):
        _reading(data, filters)
        # Side by side, so that all of them are seen at once on a small screen.
        with st.container(key="filter_grid"):
            _model(data, filters)
            _root(data, filters)
            _outcome(data, filters)
            _process(data, filters)
            _terse(data, filters)
            _judge(data, filters)
            _shared(data, filters)
            _show(filters)
            ours = dataset_facet(data.table.facets)
            for name in sorted(data.table.facets, key=lambda name: (name != ours, name)):
                values = data.table.facets[name].values
                # A tag is only on some samples: one alone tells them apart.
                if (1 if name == TAG_FACET else 2) <= len(values) <= _MOST_VALUES:
                    _facet(name, values, filters)
        if filters.active:
            st.button(
                "Clear filters", key="filter_clear", on_click=set_filters, args=(filters.cleared,)
            )


def _choice(
    label: str,
    key: str,
    options: Mapping[str, str],
    chosen: str | None,
    apply: Callable[[str], Filters],
) -> None:
    """Draw a menu of which one is chosen.

    Args:
        label: what it's called.
        key: the widget's key.
        options: value -> words; the first one stands where `chosen` isn't among them.
        chosen: what the address says.
        apply: makes the filters of a value.
    """
    st.session_state[key] = chosen if chosen in options else next(iter(options))
    st.selectbox(plain(label), list(options), format_func=lambda i: options.get(i, i), key=key,
                 on_change=lambda: set_filters(apply(st.session_state[key])))  # fmt: skip


def several(
    label: str,
    key: str,
    options: Mapping[str, str],
    chosen: tuple[Sequence[str], Sequence[str]],
    apply: Callable[[tuple[str, ...], tuple[str, ...]], Filters],
) -> None:
    """Draw a menu of which several are chosen, each as it is or with *not* before it.

    Args:
        label: what it's called.
        key: the widget's key.
        options: value -> words.
        chosen: what the address says: the values that are wanted, and those that aren't.
        apply: makes the filters of both.
    """
    wanted, unwanted = chosen
    words = {f"{_WANTED}{value}": text for value, text in options.items()}
    words |= {f"{_UNWANTED}{value}": f"not {text}" for value, text in options.items()}
    there = [*(f"{_WANTED}{one}" for one in wanted), *(f"{_UNWANTED}{one}" for one in unwanted)]
    st.session_state[key] = [one for one in there if one in words]

    def changed() -> None:
        picked = st.session_state[key]
        sides = (
            tuple(one[1:] for one in picked if one[0] == sign) for sign in (_WANTED, _UNWANTED)
        )
        set_filters(apply(*sides))

    st.multiselect(plain(numbers.middle(label, 44)), list(words),
                   format_func=lambda one: words.get(one, one[1:]),
                   key=key, on_change=changed, placeholder="Any (“not …”, too)",
                   select_all=False)  # fmt: skip


def _model(data: StudyData, filters: Filters) -> None:
    names = {_ANY: "Any", **{c.id: c.name for c in data.candidates}}
    _choice("Model", "filter_model", names, filters.model,
            lambda model: filters.but(model=model or None))  # fmt: skip


def _root(data: StudyData, filters: Filters) -> None:
    roots = roots_of(data)
    if len(roots) >= 2:
        names = {_ANY: "Any", **{root: root for root in roots}}
        _choice("Root of the tree", "filter_root", names, filters.root,
                lambda root: filters.but(root=root or None))  # fmt: skip


def _judge(data: StudyData, filters: Filters) -> None:
    if len(data.judges) >= 2:
        own = data.study.judge_id
        others = {one.id: one.name for one in data.judges if one.id != own}
        _choice("Judge", "filter_judge", {_ANY: "The study's own", **others}, filters.judge,
                lambda judge: filters.but(judge=judge or None))  # fmt: skip


def _outcome(data: StudyData, filters: Filters) -> None:
    if data.has_outcome:
        _choice("Final answer", "filter_outcome", OUTCOMES, filters.outcome,
                lambda value: filters.but(outcome=value or None))  # fmt: skip


def _process(data: StudyData, filters: Filters) -> None:
    if data.has_process:
        _choice("Steps", "filter_process", PROCESSES, filters.process,
                lambda value: filters.but(process=value or None))  # fmt: skip


def _terse(data: StudyData, filters: Filters) -> None:
    if data.has_process and (processes_of(data).terse.any() or filters.terse):
        _choice("Length", "filter_terse", TERSE, filters.terse,
                lambda value: filters.but(terse=value or None))  # fmt: skip


def _show(filters: Filters) -> None:
    _choice("Show checkpoints", "filter_show", {str(key): words for key, words in SHOWS.items()},
            filters.show, lambda value: filters.but(show=value))  # fmt: skip


def _facet(name: str, values: tuple[str, ...], filters: Filters) -> None:
    def of(labels: Iterable[tuple[str, str]], mine: bool) -> tuple[tuple[str, str], ...]:
        return tuple(label for label in labels if (label[0] == name) == mine)

    def apply(wanted: tuple[str, ...], unwanted: tuple[str, ...]) -> Filters:
        pairs = tuple((name, value) for value in wanted)
        one = pairs if len(pairs) == 1 else ()
        return filters.but(
            tags=(*of(filters.tags, False), *one),
            among=(*of(filters.among, False), *(() if one else pairs)),
            without=(*of(filters.without, False), *((name, value) for value in unwanted)),
        )

    wanted = [value for _, value in (*of(filters.tags, True), *of(filters.among, True))]
    unwanted = [value for _, value in of(filters.without, True)]
    several(label_name(name), f"filter_facet_{name}", {value: value for value in values},
            (wanted, unwanted), apply)  # fmt: skip


def _shared(data: StudyData, filters: Filters) -> None:
    n = int(answered_by_all(data.table).sum())
    if data.table.n_models < 2 or not 0 < n < len(data.table.sample_ids):
        return
    key = "filter_shared"
    st.session_state[key] = filters.shared
    st.checkbox(f"Only the {n:,} samples that every model answered", key=key,
                on_change=lambda: set_filters(
                    filters.but(shared=st.session_state[key])))  # fmt: skip


def _reading(data: StudyData, filters: Filters) -> None:
    """Let the reader choose how marks are read; it is no filter, and holds on every screen."""
    if not data.has_process:
        return
    key = "filter_reading"
    st.session_state[key] = filters.reading

    def changed() -> None:
        # A segmented control that is clicked again has no value.
        set_filters(filters.but(reading=st.session_state[key] or "strict"))

    st.segmented_control("Means are over", list(READ), format_func=lambda i: READ[i], key=key,
                         on_change=changed, help=meaning("of what was said"))  # fmt: skip
