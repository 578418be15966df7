"""How groups of failures are made and named: by words and by rule, or by whom the reader asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import streamlit as st

from atom.analysis.reasons.naming import KINDS
from atom.display import numbers
from atom.engine.jobs import Job
from atom.engine.reasons import names, vectors
from atom.engine.reasons.choice import use_rule_names, use_words
from atom.errors import AtomError
from atom.records import Endpoint
from atom.ui import kit, work
from atom.ui.failures.marks import COPY, FAULT
from atom.ui.html import el
from atom.ui.plain import plain
from atom.ui.shell import team
from atom.ui.shell.frame import Here
from atom.ui.shell.sealed import copying
from atom.views.failures.grouping import chosen_by, grouping_of, marks_of, texts_of_errors
from atom.views.failures.naming import material_of

_JOB = "groups_job"
_TOLD = "groups_told"


def draw(here: Here) -> None:
    """Draw the button behind which embeddings and names are asked for, and how far that is."""
    endpoints = work.endpoints_or_none("groups_endpoints", here.filters)
    if endpoints is None or _under_way(here):
        return
    if told := st.session_state.pop(_TOLD, None):
        kit.show(kit.notice(told), key="groups_told_shown")
    box = st.popover("How groups are made and named", key="groups_box", on_change="rerun")
    if box.open:  # What it says takes counting: done when somebody looks.
        with box, st.container(key="groups_making"):
            if here.store.read_only:
                _sealed(here)
            else:
                _embeddings(here, endpoints)
                _names(here, endpoints)
    work.draw_question()


def _sealed(here: Here) -> None:
    words = (
        "Groups are made of words and named by rule. An endpoint’s embeddings can stand in for the "
        "words, and a judge can name the groups; this study is sealed, so that is kept in your own "
        "copy of it."
    )
    kit.show(kit.note(words), key="groups_sealed")

    def copy() -> None:
        st.session_state[f"{COPY}_copy_job"] = work.start("copy", copying(here))

    team.button("edit", "Make my own copy", key="groups_copy", on_click=copy)


def _under_way(here: Here) -> bool:
    """Say how far what was asked for is; False where nothing is."""
    held = st.session_state.get(_JOB)
    if held is None:
        return False
    job_id, words = held
    state = work.ended(job_id, words)
    if state is None:
        return True
    st.session_state.pop(_JOB, None)
    st.session_state[_TOLD] = state.error or state.result
    st.rerun()


# --- embeddings ----------------------------------------------------------------------------------


def _embeddings(here: Here, endpoints: Mapping[str, Endpoint]) -> None:
    kit.show(el("p", "What they are made of", class_="strong", style="margin:0"), key="groups_of")
    chosen = chosen_by(here.store, here.data)
    there = _offered(here, endpoints, "embedding")
    if chosen.model:

        def words() -> None:
            use_words(here.store, here.data.study.id, marks_of(here.data))

        team.button("edit", "Use words again", key="groups_words", on_click=words)
    if not there:
        kit.show(kit.note("No endpoint of yours has the role embedding: add one on Settings, and "
                    "its embeddings can stand in for words."),
                 key="groups_no_embedding")  # fmt: skip
        return
    name = st.selectbox("Embeddings by", there, key="groups_embedding")
    endpoint = endpoints[str(name)]
    texts = texts_of_errors(here.store, here.data)
    price = vectors.price(here.store, endpoint, texts)
    cost = work.price_words(price.tokens, price.cost, endpoint)
    kit.show(kit.note(f"{numbers.count(price.texts, 'different reason')}, {price.missing:,} to "
                f"send; {cost}", data_testid="groups-embedding-price"),
             key="groups_embedding_price")  # fmt: skip

    def start() -> None:
        agreed = work.agreed_now(here.entry)
        study, marks = here.entry.study, marks_of(here.data)

        async def embed(job: Job[object]) -> object:
            done = await vectors.embed(here.store, study, marks, endpoint, texts,
                                       agreed=(*agreed, endpoint.host), tell=job.say)  # fmt: skip
            return f"Embeddings by {done.model} are in the store; groups are made of them now."

        _begin(embed, f"{endpoint.name} embeds {numbers.count(price.missing, 'reason')}…")

    sent = vectors.consent_question(here.entry.study, endpoint, price.missing)
    used = chosen.model == endpoint.model and not grouping_of(here.store, here.data).missing
    team.button("run", plain(f"Use embeddings by {endpoint.name}"), key="groups_embed",
                on_click=_agreed(here, endpoint, sent.sentence if sent else "", start),
                disabled=used and not price.missing)  # fmt: skip


# --- names ---------------------------------------------------------------------------------------


def _names(here: Here, endpoints: Mapping[str, Endpoint]) -> None:
    kit.show(el("p", "Who names them", class_="strong", style="margin:8px 0 0"), key="groups_names")
    found, material = material_of(here.store, here.data)
    if found.by.names:

        def rule() -> None:
            use_rule_names(here.store, here.data.study.id, marks_of(here.data))

        team.button("edit", "Use the rule’s names", key="groups_rule", on_click=rule)
    there = _offered(here, endpoints, "judge")
    if not found.groups or not there:
        why = "There are no groups to name." if not found.groups else (
            "No endpoint of yours has the role judge: add one on Settings.")  # fmt: skip
        kit.show(kit.note(why), key="groups_no_names")
        return
    usual = work.usual_judge(here.store, here.data, endpoints)
    at = there.index(usual) if usual in there else 0
    name = st.selectbox("Judge", there, index=at, key="groups_judge")
    endpoint = endpoints[str(name)]
    asked = names.GroupsToName(identity=found.identity, keys=tuple(one.key for one in found.groups),
                               material=material, kinds=tuple(map(str, KINDS)))  # fmt: skip
    price = names.price(here.store, endpoint, asked)
    cost = work.price_words(price.tokens, price.cost, endpoint)
    kit.show(
        kit.note(f"One call; {cost}", data_testid="groups-names-price"), key="groups_names_price"
    )

    def start() -> None:
        agreed = work.agreed_now(here.entry)
        study, marks = here.entry.study, marks_of(here.data)

        async def name_them(job: Job[object]) -> object:
            del job
            given = await names.name_groups(
                here.store, study, marks, endpoint, asked, agreed=(*agreed, endpoint.host)
            )
            if given.why:
                return f"{endpoint.name} named no group: {given.why}"
            left = f" Left out: {'; '.join(given.refused)}." if given.refused else ""
            n = sum(one is not None for one in given.names)
            return f"{endpoint.name} named {numbers.count(n, 'group')}.{left}"

        _begin(name_them, f"{endpoint.name} names the groups…")

    sent = names.consent_question(here.entry.study, endpoint, material)
    team.button("run", plain(f"Let {endpoint.name} name the groups"), key="groups_name",
                on_click=_agreed(here, endpoint, sent.sentence if sent else "", start))  # fmt: skip


# --- both ----------------------------------------------------------------------------------------


def _offered(here: Here, endpoints: Mapping[str, Endpoint], role: str) -> list[str]:
    """Return who may be asked: one's own first; the built-in ones know probes' words alone."""
    there = [name for name, one in endpoints.items() if role in one.roles]
    own = [name for name in there if endpoints[name].base_url != work.BUILT_IN]
    rest = [name for name in there if name not in own]
    return [*own, *(rest if here.entry.study.synthetic else [])]


def _agreed(
    here: Here, endpoint: Endpoint, sent: str, start: Callable[[], None]
) -> Callable[[], None]:
    words = f"{sent[:1].upper()}{sent[1:]}." if sent else ""
    return lambda: work.agree_then(here, [endpoint], words, start)


def _begin(do: Callable[[Job[object]], Awaitable[object]], words: str) -> None:
    st.session_state.pop(FAULT, None)
    try:
        st.session_state[_JOB] = (work.begin("groups", do), words)
    except AtomError as error:
        st.session_state[FAULT] = error.message
