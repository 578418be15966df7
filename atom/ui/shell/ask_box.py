"""Ask the study: a field in the chain takes a question in words and opens the view that answers it.

The rules read it at once. Where a judge is configured it can be asked about the same question, with
its price and an agreement first; whatever it replies, only a view of the study opens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from atom.asked.rules import read_question
from atom.asked.terms import terms_in
from atom.asked.view_request import MOST_QUESTION, ViewRequest
from atom.engine.asked import ask as asking
from atom.engine.endpoints.configured import known_endpoints
from atom.engine.jobs import Job
from atom.errors import AtomError
from atom.records import Endpoint
from atom.stages.asked.ask import QuestionReading
from atom.ui import kit, links, work
from atom.ui.html import Html, el
from atom.ui.pages import FAILURES, Screen
from atom.ui.shell import stores
from atom.ui.shell.glossary import glossary, meaning
from atom.views.asked import EXAMPLES, opened, vocabulary_of
from atom.views.stores import StudyEntry
from atom.views.study_data import StudyData

NOTE = "atom_asked"
JOB = "atom_asked_job"
_JUDGE, _CLOSE = "judge", "close"
Place = tuple[str, dict[str, list[str]]]


@dataclass(frozen=True, kw_only=True)
class QuestionNote:
    """What came of a question.

    Attributes:
        question: as it was asked.
        said: what was understood; empty where nothing was.
        left: what wasn't.
        at: the page and query that it opened: the note stands there alone.
        by: the judge that read it; empty for the rules.
        fault: why a judge's reading can't be used.
        terms: terms of the glossary that it names.
    """

    question: str
    said: str
    left: tuple[str, ...]
    at: Place
    by: str = ""
    fault: str = ""
    terms: tuple[str, ...] = ()


def fits(screen: Screen) -> bool:
    """Say whether a page has the field."""
    return screen.section == "Explore"


def field(screen: Screen) -> Html:
    """Draw the field."""
    key = "" if screen is FAILURES else " (key /)"
    return el(
        "input",
        type="text",
        value="",
        maxlength=MOST_QUESTION,
        placeholder="Ask the study",
        data_say="ask",
        data_ask=True,
        aria_label="Ask the study in words",
        data_tip=f"For example{key}: {EXAMPLES[0]}",
        class_="say asks",
        autocomplete="off",
    )


def acts(screen: Screen, entry: StudyEntry, data: StudyData) -> Callable[[str], None]:
    """Return what reads a question and opens its view."""

    def act(text: str) -> None:
        verb, _, question = text.partition(":")
        if verb == "ask" and question.strip():
            st.session_state.pop(JOB, None)
            wanted = read_question(question, vocabulary_of(data), glossary())
            _open(screen, entry, data, question, wanted)

    return act


def _open(
    screen: Screen,
    entry: StudyEntry,
    data: StudyData,
    question: str,
    wanted: ViewRequest,
    by: str = "",
) -> None:
    """Open the view, and note what was understood; without one, stay and say so."""
    found = opened(data, entry.key, wanted)
    place = links.read_address(found.address) if found is not None else None
    st.session_state[NOTE] = QuestionNote(
        question=question[:MOST_QUESTION],
        said=found.said if found is not None else "",
        left=found.left if found is not None else wanted.not_understood,
        at=place or _here(screen),
        by=by,
        terms=terms_in(question, glossary()),
    )
    if found is not None:
        kit.go(found.address)


def _here(screen: Screen) -> Place:
    held = {key: st.query_params.get_all(key) for key in st.query_params}
    return screen.url_path, links.clean_query(held)


def told(screen: Screen, entry: StudyEntry, data: StudyData) -> None:
    """Say what was understood of the question that opened this view; nothing anywhere else."""
    note: QuestionNote | None = st.session_state.get(NOTE)
    if note is None or note.at != _here(screen):
        return
    job = st.session_state.get(JOB)
    if job is not None:
        _watch(screen, entry, data, note, job)
        return
    endpoint = _judge(entry, data)
    names = vocabulary_of(data)
    offer = None
    if endpoint is not None and note.by != endpoint.name:
        price = asking.price(stores.store_of(entry), endpoint, note.question, names)
        words = work.price_words(price.tokens, price.cost, endpoint)
        offer = el("button", f"Let {endpoint.name} read it ({words})", type="button",
                   class_="plain", data_act=_JUDGE)  # fmt: skip

    def act(text: str) -> None:
        if text == _JUDGE and endpoint is not None:
            _ask(entry, data, note, endpoint)
        elif text == _CLOSE:
            st.session_state.pop(NOTE, None)

    kit.show(_over(_words(note, offer)), key="asked", act=act)
    work.draw_question()


def _over(words: Html) -> Html:
    """Lay a note over the page, so that nothing under it moves; its cross takes it away."""
    cross = el("button", "×", type="button", class_="plain close", data_act=_CLOSE,
               aria_label="Close the note")  # fmt: skip
    return el("div", words, cross, class_="asked-over", role="status")


def _words(note: QuestionNote, offer: Html | None) -> Html:
    none = "" if note.terms else "Nothing here answers that."
    head = f"Understood: {note.said}." if note.said else none
    by = f" Read by {note.by}." if note.by else ""
    missed = f" Not understood: {', '.join(note.left)}." if note.left else ""
    meant = [
        el("div", el("strong", term.capitalize()), f": {meaning(term)}") for term in note.terms
    ]
    hint = "" if note.said or meant else f" Ask, for example: {'; '.join(EXAMPLES)}"
    return el("span", kit.quiet(f"“{note.question}” "),
              kit.strong(head), by, missed, hint, note.fault and f" {note.fault}",
              meant,
              " " if offer is not None else None, offer, data_testid="asked")  # fmt: skip


def _judge(entry: StudyEntry, data: StudyData) -> Endpoint | None:
    """Return the judge that may be asked; none for the built-in one, which knows the same rules."""
    try:
        endpoints = known_endpoints(stores.settings())
        name = work.usual_judge(stores.store_of(entry), data, endpoints)
    except AtomError:
        return None
    found = endpoints.get(name)
    return None if found is None or found.is_probe else found


def _ask(entry: StudyEntry, data: StudyData, note: QuestionNote, endpoint: Endpoint) -> None:
    """Ask the judge, after the agreement."""
    names = vocabulary_of(data)
    hosts = work.hosts_to_ask(entry, [endpoint])
    needed = asking.consent_question(entry.study, endpoint, names)

    def start() -> None:
        agreed = (*work.agreed_now(entry), *hosts)

        async def ask_(job: Job[QuestionReading]) -> QuestionReading:
            del job
            return await asking.ask(
                stores.store_of(entry), entry.study, endpoint, note.question, names, agreed=agreed
            )

        st.session_state[JOB] = (work.jobs().start("ask", ask_).id, endpoint.name)

    if hosts and needed is not None:
        work.ask_first(entry, hosts, f"{needed.sentence[0].upper()}{needed.sentence[1:]}.", start)
    else:
        start()


def _watch(
    screen: Screen, entry: StudyEntry, data: StudyData, note: QuestionNote, job: tuple[str, str]
) -> None:
    """Wait for the judge, and open the view that it named."""
    state = work.ended(job[0], f"{job[1]} reads the question…")
    if state is None:
        return
    st.session_state.pop(JOB, None)
    heard: QuestionReading | None = state.result
    if heard is None or heard.wanted is None:
        why = state.error if heard is None else heard.why
        fault = f"It named no view: {why}"
        st.session_state[NOTE] = replace(note, by=job[1], fault=fault)
    else:
        _open(screen, entry, data, note.question, heard.wanted, by=job[1])
    st.rerun()
