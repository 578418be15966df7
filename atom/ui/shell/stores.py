"""Stores and studies, opened once and shared by all sessions."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from atom.engine.study.preparing import prepare_behind
from atom.errors import StoreError
from atom.settings import Settings, load_settings
from atom.views.prepared.ready import PreparedStudy, fits, last_ready, open_ready
from atom.views.runs.news import Moment
from atom.views.runs.news import looked_at as _looked_at
from atom.views.snapshot import open_study, snapshot_folder
from atom.views.stores import (
    AllStudies,
    OpenStore,
    StudyEntry,
    demo_location,
    list_all,
    open_store,
    user_location,
)
from atom.views.study_data import StudyData
from atom.views.tree.study_trees import StudyTree, study_trees, under_tree

_MOMENTS = "atom_moments"
_READY = "atom_ready"
_BROUGHT = "atom_brought"


@st.cache_resource(show_spinner=False, on_release=OpenStore.close)
def _open(location: str, read_only: bool) -> OpenStore:
    return open_store(location, read_only)


def settings() -> Settings:
    """Return the app's settings."""
    return load_settings()


def user_store(*, create: bool = False) -> OpenStore | None:
    """Open the user's store.

    Args:
        create: make it when it isn't there; else None is returned.

    Raises:
        StoreError: it can't be opened.
    """
    location = user_location(settings(), create=create)
    return None if location is None else _current(location, False)


def with_sets() -> tuple[OpenStore, ...]:
    """Open the stores that judge benchmarks' sets are looked for in: the user's, the bundled."""
    place = demo_location(settings())
    own = user_store()
    sealed = None if place is None else _current(place, True)
    return tuple(store for store in (own, sealed) if store is not None)


def _current(location: str, read_only: bool) -> OpenStore:
    """Return the open store; opened anew where its file was replaced, or became writable."""
    store = _open(location, read_only)
    if store.is_stale:
        _open.clear(location, read_only)
        store = _open(location, read_only)
    return store


def store_of(entry: StudyEntry) -> OpenStore:
    """Return the store that holds a study.

    Raises:
        StoreError: it is gone, or can't be opened.
    """
    place = demo_location(settings()) if entry.bundled else user_location(settings())
    if place is None:
        raise StoreError("the study's store is gone; choose another study")
    return _current(place, entry.bundled)


def all_studies() -> AllStudies:
    """List all studies."""
    return list_all(settings(), _current)


@st.cache_resource(show_spinner="Opening the study", max_entries=6)
def _load(
    location: str, study_id: str, judge_id: str | None, revision: int, _store: OpenStore
) -> StudyData:
    del location, revision
    return open_study(_store, study_id, judge_id, folder=_folder(_store))


@st.cache_resource(show_spinner="Placing the criteria in another tree", max_entries=6)
def _under(
    location: str,
    study_id: str,
    judge_id: str | None,
    revision: int,
    version: str,
    _store: OpenStore,
    _data: StudyData,
) -> StudyData:
    del location, study_id, judge_id, revision
    return under_tree(_store, _data, version)


def trees_of(entry: StudyEntry, data: StudyData) -> tuple[StudyTree, ...]:
    """List the trees that a study can be looked at in; its own first.

    Args:
        data: the study, under any of its trees.
    """
    own = entry.study.tree_version
    return data.table.kept.get(("trees", own), lambda: study_trees(store_of(entry), data, own))


def study_data(
    entry: StudyEntry, judge_id: str | None = None, tree: str | None = None
) -> StudyData:
    """Load a study as it is looked at; it is read anew only after it has changed.

    Args:
        judge_id: whose scores are looked at, by id or name; the study's own judge's when None or
            when that judge scored nothing of the study.
        tree: version of the tree that its criteria hang in; the study's own when None or when none
            of its criteria hang in that tree.
    """
    data = _judged(entry, judge_id)
    if tree in (None, data.study.tree_version):
        return data
    if all(one.version != tree for one in trees_of(entry, data)):
        return data
    store = store_of(entry)
    judge = data.judge.id if data.judge else None
    return _under(store.url, data.study.id, judge, data.revision, str(tree), store, data)


def looked_at(entry: StudyEntry) -> Moment:
    """Return the moment at which a session looks at a study; see `atom.views.runs.news`."""
    store, study_id = store_of(entry), entry.study.id
    if get_script_run_ctx(suppress_warning=True) is None:
        return _looked_at(store, study_id, None)
    moments: dict[tuple[str, str], Moment] = st.session_state.setdefault(_MOMENTS, {})
    name = (store.url, study_id)
    before = moments.get(name)
    moments[name] = _looked_at(store, study_id, before)
    if moments[name] != before:
        st.session_state.get(_BROUGHT, {}).pop(name, None)
    return moments[name]


def brought(entry: StudyEntry, results: int) -> None:
    """Note results that the reader brought: whoever wrote them isn't told of them as news."""
    name = (store_of(entry).url, entry.study.id)
    own: Counter[tuple[str, str]] = st.session_state.setdefault(_BROUGHT, Counter())
    own[name] += results


def brought_here(entry: StudyEntry) -> int:
    """Return how many results the reader brought since the moment at which they look at a study."""
    own: Counter[tuple[str, str]] = st.session_state.get(_BROUGHT, Counter())
    return own[store_of(entry).url, entry.study.id]


def look_again(entry: StudyEntry) -> None:
    """Let a session see a study as it is now."""
    name = (store_of(entry).url, entry.study.id)
    st.session_state.get(_MOMENTS, {}).pop(name, None)
    st.session_state.get(_BROUGHT, {}).pop(name, None)
    for held in [held for held in _held_ready() if held[:2] == name]:
        del _held_ready()[held]


def _held_ready() -> dict[tuple[str, str, str | None], PreparedStudy]:
    """Return what a session looks at of what was made ready."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return {}
    held: dict[tuple[str, str, str | None], PreparedStudy] = st.session_state.setdefault(_READY, {})
    return held


def _folder(store: OpenStore) -> Path:
    return snapshot_folder(store, settings().store_folder)


def shown_ready(entry: StudyEntry, judge_id: str | None) -> PreparedStudy | None:
    """Return what a session looks at of a large study; None where it is looked at as it stands.

    Args:
        judge_id: whose marks; the study's own judge's when None.
    """
    store, held = store_of(entry), _held_ready()
    name = (store.url, entry.study.id, judge_id)
    if name not in held or not fits(held[name], entry.study):
        held.pop(name, None)
        found = newest_ready(entry, judge_id)
        if found is None:
            return None
        held[name] = found
    return held[name]


def newest_ready(entry: StudyEntry, judge_id: str | None) -> PreparedStudy | None:
    """Return what was last made ready of a study, as `shown_ready` takes it."""
    store = store_of(entry)
    return last_ready(store, entry.study, judge_id, _folder(store))


def make_ready(entry: StudyEntry, judge_id: str | None) -> bool:
    """Have a study made ready in the background; returns whether somebody is at it."""
    last = newest_ready(entry, judge_id)
    return prepare_behind(
        settings(),
        entry.study.id,
        judge_id,
        folder=_folder(store_of(entry)),
        rest_until=0.0 if last is None else last.rest_until,
    )


def _judged(entry: StudyEntry, judge_id: str | None) -> StudyData:
    store = store_of(entry)
    revision = looked_at(entry).revision
    own = _as_shown(entry, store, None, revision)
    wanted = own.judge_id(judge_id)
    if wanted in (None, entry.study.judge_id):
        return own
    return _as_shown(entry, store, wanted, revision)


def _as_shown(
    entry: StudyEntry, store: OpenStore, judge_id: str | None, revision: int
) -> StudyData:
    """Load a study: a large one as it was last made ready, else as it stands."""
    ready = shown_ready(entry, judge_id)
    if ready is not None:
        data = _load_ready(str(ready.place), store, entry.study.id, ready)
        if data is not None:
            return data
    data = _load(store.url, entry.study.id, judge_id, revision, store)
    if not entry.bundled and len(data.table.score) >= settings().large:
        make_ready(entry, judge_id)
    return data


@st.cache_resource(show_spinner="Opening the study", max_entries=3)
def _load_ready(
    place: str, _store: OpenStore, _study_id: str, _ready: PreparedStudy
) -> StudyData | None:
    del place
    return open_ready(_store, _study_id, _ready)


def settle() -> None:
    """Take what is loaded by now out of the collector's sight.

    Garbage is looked for every few seconds (`crowd.tidy`); with the loaded modules and the first
    study frozen, that is over sooner by a quarter of a second.
    """
    gc.collect()
    gc.freeze()
