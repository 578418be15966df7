"""The Data page's markup: studies, first rows, what came in, what an export drops."""

from __future__ import annotations

from collections.abc import Sequence

from atom.display.numbers import count, moment
from atom.exports.archive_form import ArchiveManifest
from atom.exports.base import Exporter
from atom.formats import Account, ImportReport, account_of
from atom.records import Import, Study
from atom.ui import kit, links
from atom.ui.html import Html, el, join
from atom.ui.pages import DATA, OVERVIEW
from atom.ui.picture import attach_address
from atom.views.data.import_table import account_table, brought_words
from atom.views.data.page import FilePreview, is_unfinished
from atom.views.data.study_table import StudyCard, study_table
from atom.views.filters import Filters

TABS = (
    ("bring", "Import"),
    ("pictures", "Pictures"),
    ("studies", "Studies and imports"),
    ("export", "Export"),
)
_CUT = 160
_LISTED = 40


def tabs(chosen: str, filters: Filters) -> Html:
    """Draw the page's tabs."""
    return kit.tabs(
        [
            (title, links.address(DATA.url_path, filters, tab=key), key == chosen)
            for key, title in TABS
        ],
        label="Parts of this page",
    )


def summary(cards: Sequence[StudyCard]) -> Html:
    """Say what is in here, in a sentence."""
    own = [card for card in cards if not card.entry.bundled]
    bundled = len(cards) - len(own)
    answers = count(sum(card.responses for card in own), "answer")
    words = f"{count(len(own), 'study', 'studies')} of yours with {answers}"
    if not own:
        words = "Nothing of yours is in here yet"
    if bundled:
        words += "; there is also" if own else "; there is"
        words += f" {count(bundled, 'bundled study', 'bundled studies')} to look at"
    return el("p", words + ".", class_="strong")


def studies(cards: Sequence[StudyCard], chosen: str) -> Html:
    """Draw the list of studies; a name chooses one, *Open* leads to its Overview."""
    return kit.drawn(
        study_table(cards),
        cells={
            "Study": _study,
            "": lambda card, text: kit.door(
                text, links.address(OVERVIEW.url_path, Filters(study=card.entry.key))
            ),
        },
        on=lambda card: card.entry.key == chosen,
        tight=False,
    )


def _study(card: StudyCard, name: str) -> Html:
    study, key = card.entry.study, card.entry.key
    href = links.address(DATA.url_path, Filters(study=key), tab="studies", of=key)
    marks = [kit.synthetic_badge()] if study.synthetic else []
    if card.entry.bundled:
        marks.append(kit.badge("BUNDLED", "Sealed: copy it to change it."))
    return el("span", kit.cell(name, href), " ", *marks)


def import_row(record: Import) -> Html:
    """Draw an import of a study."""
    kept = account_of(record)
    state = kit.status("failed", "broke off before its end") if is_unfinished(record) else None
    details = (*record.notes, *record.skipped)
    return el(
        "div",
        el("p", el("span", ", ".join(record.sources)[:_CUT], class_="strong text"), " ", state),
        el(
            "p",
            f"{record.format} · {moment(record.created)} · "
            f"{count(record.samples, 'sample')}, {count(record.responses, 'answer')}",
            class_="quiet small",
        ),
        kit.fold("The account", account(kept)) if kept is not None and kept.tallies else None,
        kit.fold(f"Notes and what was left out ({len(details)})", kit.lines(details[:_LISTED]))
        if details else None,
    )  # fmt: skip


def taking_back(record: Import, study: Study) -> Html:
    """Say what goes with an import that is taken back, and what stays."""
    return el(
        "div",
        el("p", el("span", ", ".join(record.sources)[:_CUT], class_="strong text"),
           f" brought {count(record.samples, 'question')} and {count(record.responses, 'answer')} "
           "into ", el("span", study.name, class_="strong text"), "."),
        el("p", "What only this import brought goes, with its verdicts, votes and labels. What "
           "another import or study holds, or a run has scored, stays. It can't be undone: "
           "bring the files in again instead.", class_="quiet small"),
        style="display:flex;flex-direction:column;gap:8px",
    )  # fmt: skip


def first_rows(looked: FilePreview) -> Html:
    """Draw the first rows as they would come in."""
    with_models = any(row.model for row in looked.rows)
    with_pictures = any(row.pictures for row in looked.rows)
    return join(
        el(
            "p",
            f"How the first {count(len(looked.rows), 'row')} would come in. Nothing is kept yet.",
            class_="quiet small",
        ),
        kit.grid(
            looked.rows,
            kit.MarkupColumn("Question", lambda row: clipped(row.question)),
            kit.MarkupColumn("Right answer", lambda row: clipped(row.reference)),
            kit.MarkupColumn("Model", lambda row: clipped(row.model), when=with_models),
            kit.MarkupColumn("Its answer", lambda row: clipped(row.answer), when=with_models),
            kit.MarkupColumn("Verdict", lambda row: row.right or "–", when=with_models),
            kit.MarkupColumn(
                "Pictures", lambda row: clipped(row.pictures), broad=True, when=with_pictures
            ),
            label="First rows",
        ),
    )


def clipped(text: str) -> Html:
    """Draw a text on one line, cut where it is long."""
    text = " ".join(text.split())
    cut = text if len(text) <= _CUT else f"{text[:_CUT]}…"
    return el("span", cut, class_="text small")


def recognised(looked: FilePreview) -> Html:
    """Say what the files are."""
    how = "Recognised as" if looked.recognised else "Read as"
    return el("p", f"{how} ", kit.strong(looked.format), f": {looked.about}")


def report(found: ImportReport, *, kept: bool) -> Html:
    """Say what came of reading: what there is, what is left out and why, what is missing."""
    return el(
        "div",
        el("p", kit.strong(brought_words(found, kept=kept))),
        account(found.account) if found.account.tallies else None,
        [el("p", kit.told(note), class_="small text") for note in found.notes[:_LISTED]],
        _listing("What is left out, and why", found.skipped, found.n_skipped, opened=not kept),
        _listing("Pictures that are missing", found.missing_pictures, found.n_missing_pictures),
        class_="stack",
    )


def account(found: Account) -> Html:
    """Draw an import's account."""
    return kit.drawn(account_table(found), cells={"Why": lambda _, text: kit.told(text)})


def doubts(lines: Sequence[str]) -> Html:
    """Say why an import asks first."""
    return el(
        "div",
        el("p", "Look at this before it comes in", class_="strong"),
        kit.lines(lines[:_LISTED]),
        class_="empty",
        role="status",
    )


def conflict(words: str) -> Html:
    """Say that other contents stand under the same ids."""
    return el(
        "div",
        el("p", "Other contents stand under the same ids", class_="strong"),
        el("p", kit.told(words), class_="small text"),
        class_="empty",
        role="status",
    )


def _listing(title: str, lines: Sequence[str], total: int, *, opened: bool = False) -> Html | None:
    if not total:
        return None
    more = total - min(len(lines), _LISTED)
    return kit.fold(
        f"{title} ({total:,})",
        kit.lines(lines[:_LISTED]),
        el("p", f"and {more:,} more", class_="quiet small") if more else None,
        opened=opened,
    )


def archive(manifest: ArchiveManifest) -> Html:
    """Say what a study's archive holds."""
    shown = {
        "samples": "samples", "candidates": "models", "responses": "answers",
        "checkpoints": "scores", "preferences": "votes", "annotations": "labels by people",
        "corrections": "corrections",
    }  # fmt: skip
    parts = [f"{manifest.counts[k]:,} {word}" for k, word in shown.items() if k in manifest.counts]
    badge = kit.synthetic_badge() if manifest.synthetic else None
    return el(
        "div",
        el(
            "p", "A study's archive: ", el("span", manifest.study, class_="strong text"), " ", badge
        ),
        el("p", f"{', '.join(parts)}. Exported {manifest.created[:10]}.", class_="quiet small"),
    )


def done(words: str, key: str, found: ImportReport | None) -> Html:
    """Say that it is in, with the door to it."""
    return el(
        "div",
        el("h2", words, style="margin:0"),
        el(
            "div",
            kit.button("Open the Overview", links.address(OVERVIEW.url_path, Filters(study=key)),
                       primary=True),
            kit.button("Attach the missing pictures", attach_address(key))
            if found is not None and found.n_missing_pictures
            else None,
            class_="row",
        ),
        report(found, kept=True) if found is not None else None,
        class_="empty",
        role="status",
    )  # fmt: skip


def exporter(one: Exporter) -> Html:
    """Draw a form: what it is for, and what it drops."""
    drops = (
        kit.fold(f"Not in it ({len(one.drops)})",
                 el("ul", [el("li", text) for text in one.drops], class_="small"))
        if one.drops
        else el("p", "Nothing is dropped: the exact round trip.", class_="small")
    )  # fmt: skip
    return el(
        "div",
        el("h2", one.title, style="margin:0"),
        el("p", one.about, class_="quiet small"),
        drops,
    )


def size(n_bytes: int) -> str:
    """Write a file's size."""
    if n_bytes < 1_000_000:
        return f"{max(n_bytes / 1000, 0.1):.1f} KB"
    return f"{n_bytes / 1e6:.1f} MB"
