"""Words to a view by rule: names of the study, page words, and what questions are made of.

A name is found as it is written, then by its stem, then by likeness; what is found is taken out of
the question, and the content words that are left over are said not to be understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from atom.asked.terms import VIEWS, terms_in
from atom.asked.view_request import MOST_QUESTION, Label, ViewRequest, Vocabulary

_WORD: Final = re.compile(r"[^\W_]+(?:[-_.'’:][^\W_]+)*")
_QUOTED: Final = re.compile(r"[\"“«]([^\"”»]{1,120})[\"”»]")
_NUMBER: Final = re.compile(
    r"\b(?:sample|question|no|number|nr)\b\.?\s{0,9}(?:#\s{0,9})?(\d{1,7})\b|#(\d{1,7})", re.I
)
_ENDING: Final = re.compile(r"(?<=\w{3})(?:ings?|ions?|ies|es|s|ed|ly|y)$")
_ALIKE: Final = 0.82
_LEAST_ALIKE: Final = 5
"""Letters of a word that may be misspelt."""
_INTENTS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    (r"kinds? of errors?|types? of errors?|kinds? of mistakes?|error types?|failure signatures?|"
     r"signatures?|made up of", {"page": "fingerprints", "tab": "errors"}),
    (r"groups?|clusters?|why do(?:es)?|what goes wrong", {"page": "failures", "layout": "groups"}),
    (r"right answers?.{0,30}wrong (?:reasons?|steps?)|lucky|right for the wrong reasons?|by luck",
     {"page": "failures", "outcome": "right", "process": "flawed"}),
    (r"wrong answers?|answers? (?:is|are|that are)? ?wrong|final answers? wrong",
     {"page": "failures", "outcome": "wrong"}),
    (r"unscored|not scored|unusable", {"page": "failures", "show": "unscored"}),
    (r"not perfect|imperfect", {"page": "failures", "show": "imperfect"}),
    (r"most models fail|failed by most|everybody fails?|every model fails?|all models fail|hardest "
     r"(?:samples?|questions?)", {"page": "failures", "sort": "models"}),
    (r"judges? (?:dis)?agree|judges? differ|disputed|disagreement of (?:the )?judges",
     {"page": "failures", "show": "disputed"}),
    (r"differ most|disagree(?: most)?|spread", {"page": "failures", "sort": "spread"}),
    (r"lowest scores?|worst samples?", {"page": "failures", "sort": "score"}),
    (r"grid|matrix of samples", {"page": "failures", "layout": "grid"}),
    (r"told apart|tell apart|alike|similar|recogni[sz]ed?|look the same",
     {"page": "fingerprints", "tab": "apart"}),
    (r"first breaks?|where .{0,30}breaks? first|scores? spread|rank patterns?",
     {"page": "fingerprints", "tab": "answers"}),
    (r"votes?|preferred|preference", {"measure": "preference"}),
    (r"final answers?|accuracy|outcomes?", {"measure": "outcome"}),
)  # fmt: skip
_PAGES: Final[tuple[tuple[str, str], ...]] = (
    ("compare", r"compar(?:e|ed|ing|ison)|versus|vs|against|los(?:es?|ing)|lost|loose|wins?|beats?|"
                r"(?:better|worse|ahead|behind) (?:than|of|to)?|differences?|differ"),
    ("failures", r"failures?|fail(?:s|ed|ing)?|mistakes?|errors?|examples? of|show me|cases?"),
    ("fingerprints", r"fingerprints?|weak(?:est|ness(?:es)?)?|strengths?|strong(?:est)?|shapes?|"
                     r"radars?|profiles?|good at|bad at|struggles?"),
    ("tree", r"tree|capabilit(?:y|ies)|what is (?:being )?tested|hard(?:est)? for (?:all|everybody|"
             r"every model)|skills?"),
    ("overview", r"overview|who (?:leads?|is ahead|is best|wins)|leads?|leader|best|ranking|ranks?|"
                 r"ranked|stands? out|summary|scores?|result"),
)  # fmt: skip
"""Words of each page, the page that answers most exactly first."""
_IDLE_WORDS: Final = (
    "a about after all an and any are as at be been between both but by can could did do does each "
    "either every for from give got had has have her him his how i if in into is isn't it its just "
    "let list look me model models more most much my no not of on only open or our out over please "
    "really said same see show shown shows so some sure than that the their them then there these "
    "they this those to under up us was we were what when where whether which while who whom whose "
    "why will with within would you your steps step samples sample questions question answers "
    "answer make makes checkpoint checkpoints one where's what's who's s know tell want like often "
    "certain surely first study explain define mean means meaning term"
)
_IDLE: Final = frozenset(_IDLE_WORDS.split())
"""Words that a question needs and that name nothing."""


@dataclass
class _Reading:
    """A question, and which of its letters were understood."""

    text: str
    taken: list[tuple[int, int]] = field(default_factory=list)

    def free(self, start: int, end: int) -> bool:
        """Say whether none of these letters was understood yet."""
        return all(end <= left or start >= right for left, right in self.taken)

    def find(self, pattern: str, flags: int = re.IGNORECASE) -> re.Match[str] | None:
        """Take the first place where a pattern stands among whole words; None without one."""
        for match in re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w-])", self.text, flags):
            if self.free(*match.span()):
                self.taken.append(match.span())
                return match
        return None

    def words(self) -> list[re.Match[str]]:
        """Return the words that weren't understood yet."""
        return [word for word in _WORD.finditer(self.text) if self.free(*word.span())]


def read_question(
    question: str, vocabulary: Vocabulary, terms: Iterable[str] = VIEWS
) -> ViewRequest:
    """Read what a question asks to see, by rule.

    Args:
        question: in words; 300 characters of it are read.
        vocabulary: the names that the study has.
        terms: those of the glossary, folded; as `terms_in` finds them they are understood.
    """
    reading = _Reading(text=" ".join(question[:MOST_QUESTION].split()))
    found: dict[str, Any] = {}
    if quoted := _QUOTED.search(reading.text):
        found |= {"search": quoted.group(1).strip(), "page": "failures"}
        reading.taken.append(quoted.span())
        reading.find(r"search(?: for)?|mention(?:s|ing)?|hold(?:s|ing)?|words?|contain(?:s|ing)?")
    if number := _NUMBER.search(reading.text):
        found |= {"sample": int(number.group(1) or number.group(2)) or None, "page": "failures"}
        reading.taken.append(number.span())
    models = _models(reading, vocabulary.models)
    facet = _facet(reading, vocabulary.labels)
    labels = _labels(reading, vocabulary.labels)
    for pattern, view in _INTENTS:
        if reading.find(pattern):
            found = {**view, **found}
    names = terms_in(reading.text, terms)
    # Of several words a term is sure; one word may be a capability's name.
    meant = _terms(reading, [name for name in names if " " in name])
    capability = _capability(reading, vocabulary.capabilities)
    capability = capability or _capability(reading, vocabulary.capabilities, loosely=True)
    meant = meant or _terms(reading, [name for name in names if " " not in name])
    found = {**{key: one for key, one in meant.items() if key != "page"}, **found}
    pages = [page for page, pattern in _PAGES for _ in _each(reading, pattern)]
    page = found.pop("page", None) or _page(pages, models, facet, capability)
    page = page or meant.get("page")
    if page is None and (labels or found):
        page = "overview"
    left = [
        word.group()
        for word in reading.words()
        if word.group().lower().replace("’", "'") not in _IDLE and not word.group().isdigit()
    ]
    return ViewRequest(
        page=page,
        models=tuple(models[:2]),
        capability=capability,
        labels=tuple(labels[:4]),
        facet=facet,
        not_understood=tuple([*dict.fromkeys(one[:60] for one in (*models[2:], *left))][:12]),
        **found,
    )


def _terms(reading: _Reading, names: Sequence[str]) -> Mapping[str, Any]:
    """Take the glossary's terms out of a question; return what the first that opens one opens."""
    views = []
    for term in names:
        if reading.find(rf"{re.escape(term)}(?:e?s)?") and term in VIEWS:
            views.append(VIEWS[term])
    return views[0] if views else {}


def _each(reading: _Reading, pattern: str) -> Iterable[re.Match[str]]:
    while match := reading.find(pattern):
        yield match


def _page(pages: Sequence[str], models: Sequence[str], facet: str, capability: str) -> str | None:
    """Choose the page: as the words say, else as the names do."""
    if facet:
        return "fingerprints"
    if len(models) == 2:
        return "compare"
    if pages and pages[0] == "compare" and len(pages) > 1:
        # *Better at*, *lost* and the like mean Compare where there are two to compare.
        return pages[0] if models else pages[1]
    if pages:
        return pages[0]
    if models:
        return "failures" if capability else "fingerprints"
    return "tree" if capability else None


# --- names ---------------------------------------------------------------------------------------


def _models(reading: _Reading, names: Sequence[str]) -> list[str]:
    """Find models: by their whole names, by the part that tells them apart, by likeness."""
    found: list[tuple[int, str]] = []
    for name in sorted(names, key=len, reverse=True):
        if match := reading.find(re.escape(name)):
            found.append((match.start(), name))
    for name, short in _short(names).items():
        if any(one == name for _, one in found):
            continue
        flags = 0 if len(short) == 1 else re.IGNORECASE
        told = f"[Mm]odels? {re.escape(short)}" if len(short) == 1 else re.escape(short)
        match = reading.find(told, flags) or (
            reading.find(re.escape(short.upper()), 0) if len(short) == 1 else None
        )
        if match:
            found.append((match.start(), name))
    lower = {name.lower(): name for name in names}
    for word in reading.words():
        text = word.group().lower()
        if len(text) >= _LEAST_ALIKE and any(sign in text for sign in "-_.0123456789"):
            near = get_close_matches(text, lower, n=1, cutoff=_ALIKE)
            if near and lower[near[0]] not in {one for _, one in found}:
                reading.taken.append(word.span())
                found.append((word.start(), lower[near[0]]))
    return [name for _, name in sorted(found)]


def _short(names: Sequence[str]) -> dict[str, str]:
    """Return what is left of each name without the beginning that all share, up to a sign."""
    if len(names) < 2:
        return {}
    shared = 0
    while all(len(one) > shared for one in names) and len({one[shared] for one in names}) == 1:
        shared += 1
    shared = max((names[0].rfind(sign, 0, shared) + 1 for sign in "-_ ./"), default=0)
    short = {name: name[shared:] for name in names}
    return short if shared and all(short.values()) else {}


def _facet(reading: _Reading, labels: Mapping[str, Sequence[str]]) -> str:
    """Find *by difficulty*: the labels to take a fingerprint apart by."""
    for name in sorted(labels, key=len, reverse=True):
        if reading.find(rf"(?:by|per|over|across|for each) {re.escape(name)}"):
            return name
    return ""


def _labels(reading: _Reading, labels: Mapping[str, Sequence[str]]) -> list[Label]:
    """Find labels: *difficulty hard*, or *hard* alone where one facet has it."""
    found = []
    for facet, values in labels.items():
        for value in sorted(values, key=len, reverse=True):
            if reading.find(rf"{re.escape(facet)}\s*(?:=|:|is)?\s*{re.escape(value)}"):
                found.append(Label(facet=facet, value=value))
    owners: dict[str, list[str]] = {}
    for facet, values in labels.items():
        for value in values:
            owners.setdefault(value, []).append(facet)
    for value in sorted(owners, key=len, reverse=True):
        plain = len(value) >= 3 and not value.isdigit() and value.lower() not in _IDLE
        told = rf"{re.escape(value)} (?:samples?|questions?|ones?)"
        if plain and len(owners[value]) == 1 and _is_no_page(value) and reading.find(told):
            found.append(Label(facet=owners[value][0], value=value))
    return found


def _is_no_page(value: str) -> bool:
    return not any(re.fullmatch(pattern, value, re.IGNORECASE) for _, pattern in _PAGES)


def _capability(reading: _Reading, capabilities: Sequence[str], *, loosely: bool = False) -> str:
    """Find a capability: by its whole name; loosely by one of its words, or by likeness."""
    by_name: dict[str, list[str]] = {}
    for path in sorted(capabilities, key=lambda path: path.count("›")):
        by_name.setdefault(path.rsplit(" › ", 1)[-1].lower(), []).append(path)
    words = reading.words()
    texts = [_stem(word.group()) for word in words]
    names = sorted(by_name, key=lambda name: (-len(name.split()), by_name[name][0].count("›")))
    for name in names:
        wanted = [_stem(one) for one in _WORD.findall(name)]
        for at in range(len(texts) - len(wanted) + 1):
            if wanted and texts[at : at + len(wanted)] == wanted:
                return _took(reading, words[at : at + len(wanted)], by_name[name])
    if not loosely:
        return ""
    for word, text in zip(words, texts, strict=True):
        if len(text) < 4 or word.group().lower() in _IDLE:
            continue
        holding = [name for name in names if text in {_stem(one) for one in _WORD.findall(name)}]
        if holding:
            best = min(holding, key=lambda name: (len(name.split()), by_name[name][0].count("›")))
            return _took(reading, [word], by_name[best])
        near = get_close_matches(word.group().lower(), list(by_name), n=1, cutoff=_ALIKE)
        if near and len(word.group()) >= _LEAST_ALIKE:
            return _took(reading, [word], by_name[near[0]])
    return ""


def _took(reading: _Reading, words: Sequence[re.Match[str]], paths: Sequence[str]) -> str:
    reading.taken.extend(word.span() for word in words)
    return paths[0]


def _stem(word: str) -> str:
    return _ENDING.sub("", word.lower())
