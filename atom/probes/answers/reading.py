"""Read an answer's text: equal-length normalising, clauses, numbers, times, hedges.

Everything here keeps offsets: a span found in the normalised text is the same span of the answer.
Each pattern is bounded, so that reading takes time linear in the answer's length.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

LETTERS = "ABCDEFGH"
"""What choices are lettered with."""
Span = tuple[int, int]

_SINGLE = {
    "‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "‑": "-",
    "×": "x", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u200b": " ", "\ufeff": " ",
    "\t": " ", "\r": " ", "：": ":", "，": ",", "．": ".", "；": ";", "＝": "=",
    "*": " ", "_": " ", "`": " ", "#": " ", "~": "~",
}  # fmt: skip
_SINGLE.update({chr(0xFF10 + digit): str(digit) for digit in range(10)})
_TABLE = str.maketrans(_SINGLE)

_BOUNDARY = re.compile(
    r"(?<![.!?])[.!?]++[\"')\]]{0,3}(?=\s|$)"
    r"|\n+"
    r"|;"
    r"|,(?= (?:and|while|whereas|but|so|then) )"
    r"|(?:,|-|\.\.\.|…)(?= {0,2}(?:no,? wait|wait,|actually|scratch that|correction|or rather"
    r"|make that)\b)"
)
_ABBREVIATION = re.compile(r"(?:\b(?:approx|appr|ca|vs|no|fig|e\.g|i\.e|etc|a\.m|p\.m|est))$")
_CORRECTION = re.compile(
    r"[\s>\-.…,]{0,8}(?:(?:hmm|oh|no|ah|sorry)\W{1,3}){0,2}"
    r"(?:(?:no\W{1,3})?wait|actually|scratch that|correction|or rather|make that|let me correct"
    r"|on reflection|on second thought|i mean|i misread|strike that|sorry)\b"
)
_FINAL = re.compile(
    r"[\s>|\-]{0,12}(?:so |thus |therefore,? |hence |my |the )?(?:final |my final )?answer\s{0,3}"
    r"(?:is\s{0,3})?[:=]"
)
_PRONOUN = re.compile(r"\W{0,4}(?:it|its|it's|this|that|that's|they|these|those|there)\b")

_HEDGE = re.compile(
    r"\b(?:roughly|about|approximately|approx|around|maybe|probably|perhaps|likely|possibly|seems?"
    r"|appears?|looks like|i think|i believe|i guess|i(?:'d| would) (?:say|guess|estimate)|could be"
    r"|might be|may be|must be|close to|near(?:ly)?|almost|or so|more or less|unsure|uncertain"
    r"|not (?:entirely |quite |fully )?(?:sure|certain)|hard to (?:say|tell)|if i read|best guess"
    r"|as far as i can|presumably"
    r"|somewhere near|in the region of|i suppose|ca\.|circa|estimated?|tentatively"
    r"|give or take|supposedly)(?!\w)|(?<!\w)[~≈](?=\s?[$€£]?\d)"
)
_VAGUE = re.compile(
    r"\b(?:in (?:broad|general|round) terms|(?:broadly|loosely) (?:speaking|put)"
    r"|(?:leaving|to leave) (?:out )?(?:the |some |a )?(?:finer |small |fine )?"
    r"(?:points?|details?)(?: (?:out|aside))?|(?:the )?details? (?:left )?aside"
    r"|without (?:the |its |their )?(?:finer )?details?)\b"
)
_DECLINE = re.compile(
    r"\b(?:can ?not|can't|could ?n[o']t|couldn't|unable to|not able to|did ?n[o']t|didn't)\s+"
    r"(?:really |quite |reliably |clearly )?(?:make|see|read|tell|determine|work|find|identify"
    r"|discern|say|pin|judge|decide|answer|figure)\b"
    r"|\b(?:can ?not|can't|could ?n[o']t) be (?:seen|read|told|known|made|determined|identified"
    r"|discerned)\b"
    r"|\b(?:unreadable|illegible|too (?:small|blurred|blurry|dark|faint))\b"
)

_ANSWER_LINE = re.compile(
    r"\banswer\s{0,3}(?:is\s{0,3}:?|[:=]|would be|must be)\s{0,3}(?P<said>[^\n]{1,200})"
)
_BOXED_ANSWER = re.compile(r"\\boxed\{([^{}\n]{1,100})\}")
_LETTER = re.compile(r"\W{0,3}(?:(?i:option|choice)\s+)?([A-Ha-h])(?:\W|$)(?!\w)")
_NOT_WORDS = re.compile(r"[\W_]+")

_PARENS = re.compile(r"\([^()\n]{0,200}\)|\[[^\[\]\n]{0,200}\]")
_WORDS = r"(?:[^,.;:\n]|[.,:](?=\d))"
_NOT_BUT = re.compile(rf"\bnot\s{{1,8}}{_WORDS}{{1,60}}?,?\s{{1,8}}but\b")
_INSTEAD = r"rather than|instead of|as opposed to"
_COMMA_NOT = re.compile(rf"(?:,|-|\()\s{{0,2}}(?:and )?(?:not|{_INSTEAD})\s+{_WORDS}{{1,60}}")
_RATHER = re.compile(rf"\b(?:{_INSTEAD}|unlike|no longer)\s+{_WORDS}{{1,40}}")
_TERM = r"[$€£]?\d{1,12}(?:[.,:]\d{1,6}){0,4}(?:\s?[a-z%°$€£/²³]{1,9})?"
_OPERATOR = r"(?:[-+*/x÷]|minus|plus|times|less|multiplied by|divided by)"
_WORKING = re.compile(
    rf"(?<![\w.,]){_TERM}(?:\s?{_OPERATOR}\s?{_TERM}){{1,6}}\s?"
    r"(?:=|equals|is equal to|gives|makes|comes to|leaves|is)(?=\s)"
)
_MARKER = re.compile(
    r"(?:^|(?<=\n))[ >]{0,8}(?:step )?\d{1,2}[.):](?=[ \t]+\S)|\bstep \d{1,2}(?=[:.)])"
)
_BOXED = re.compile(r"\\(?:boxed|text|mathbf|mathrm)\{|\\[()\[\]]|[{}]")

_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-+](?=[$€£]?\d))?(?:[$€£]\s?)?"
    r"(?P<body>\d{1,3}(?:[,' ]\d{3}){1,5}(?:\.\d{1,9})?(?![\d])|\d{1,3}(?:\.\d{3}){1,5},\d{1,9}"
    r"|\d{1,18}(?:[.,]\d{1,9})?)"
    r"(?P<exp>e[+-]?\d{1,3})?"
    r"(?P<scale>\s?(?:k|thousand|million)(?![\w]))?"
)
_SIGNED_AFTER = ("", " ", "\n", ":", "(")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_CLOCK = re.compile(
    r"(?<![\w:.])(?P<h>\d{1,2})\s?(?::|\bh\b|h(?=\d)|\.(?=\d\d\s?(?:am|pm|o'clock)))\s?(?P<m>[0-5]\d)(?::[0-5]\d)?"
    r"(?!\d|:\d)(?:\s?[ap]\.?m\b\.?)?"
)

_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_MULTIPLES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_ALL_WORDS = {**_UNITS, **_TENS, **_MULTIPLES, "dozen": 12}
_WORD = r"(?:" + "|".join(sorted(_ALL_WORDS, key=len, reverse=True)) + r")"
_NUMBER_WORDS = re.compile(
    rf"\b(?:(?:a|half a) (?=hundred|thousand|million|dozen))?{_WORD}"
    rf"(?:[ -](?:and )?{_WORD}){{0,8}}(?: point(?: {_WORD}){{1,6}})?\b"
)
_NOT_A_COUNT_BEFORE = re.compile(
    r"(?:\b(?:the|these|those|this|that|which|any|no|each|every|other|only|last|first|either|another))\s$"
)
_NOT_A_COUNT_AFTER = re.compile(r"\s(?:of|another|by one)\b")
_NONE = re.compile(
    r"\b(?:none|no(?! (?:longer|doubt|wait|more|idea|single|way|need|clear|sign))(?=\s[a-z]))"
)

_H = r"(?P<{}>1[0-2]|0?[1-9]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_SPOKEN = re.compile(
    r"\b(?:(?P<lead>half|(?:a )?quarter|(?:[0-5]?\d|(?:twenty|thirty|forty|fifty)"
    r"(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)(?: minutes?)?)"
    r" (?P<side>past|after|to|before) " + _H.format("past") + r"(?: o'?clock)?"
    r"|" + _H.format("sharp") + r" ?o'?clock)\b"
)
_RANGE = re.compile(r"\s?(?:-|to|and)\s?[$€£]?")
_BETWEEN = re.compile(r"\b(?:between|somewhere between|from|in the range(?: of)?)\s?[$€£]?$")


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A value as it stands in the text."""

    start: int
    end: int
    value: float | str
    vague: bool = False
    """Whether the form itself leaves something open: a range."""
    weak: bool = False
    """A number in words, which gives way to digits in the same clause."""


@dataclass(frozen=True, kw_only=True)
class Clause:
    """A stretch of the answer that says one thing."""

    start: int
    end: int
    corrects: bool
    """Begins with "No, wait" and the like: takes over the clause before it."""
    final: bool
    """The final answer's line, which is no part of the reasoning."""
    pronoun: bool
    """Begins with "it" and the like."""


@dataclass(frozen=True, kw_only=True)
class AnswerReading:
    """An answer, read."""

    text: str
    norm: str
    """Lower case, same length as the text."""
    cased: str
    """As `norm`, in the text's own case."""
    clauses: tuple[Clause, ...]
    numbers: tuple[Mention, ...]
    times: tuple[Mention, ...]
    asides: tuple[Span, ...]
    """Stretches whose values don't count unless nothing else does: brackets."""
    denied: tuple[Span, ...]
    """Stretches whose values never count: "not X but", the working left of "="."""
    hedges: tuple[int, ...]
    vague: tuple[int, ...]
    """Where the answer says that it leaves details aside."""

    def leaves_out(self, start: int, end: int) -> bool:
        """Tell whether the stretch says that it leaves details aside."""
        at = bisect_left(self.vague, start)
        return at < len(self.vague) and self.vague[at] < end

    def hedged(self, start: int, end: int) -> bool:
        """Tell whether a hedge stands between the offsets."""
        at = bisect_left(self.hedges, start)
        return at < len(self.hedges) and self.hedges[at] < end

    def declines(self, start: int, end: int) -> bool:
        """Tell whether the stretch says that something can't be made out."""
        return _DECLINE.search(self.norm, start, end) is not None


def normalise(text: str) -> tuple[str, str]:
    """Return (lower-case, cased) forms of the text, each of exactly its length."""
    cased = text.translate(_TABLE)
    lower = cased.lower()
    if len(lower) != len(cased):
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in cased)
    if "\\" in lower or "{" in lower:
        lower = _BOXED.sub(lambda hit: " " * len(hit.group()), lower)
        cased = _BOXED.sub(lambda hit: " " * len(hit.group()), cased)
    lower = _MARKER.sub(lambda hit: " " * len(hit.group()), lower)
    return lower, cased


def read_text(text: str) -> AnswerReading:
    """Read an answer once; the judge then asks about each step."""
    norm, cased = normalise(text)
    denied = _spans(norm, _NOT_BUT, _COMMA_NOT, _RATHER, _WORKING)
    times = tuple(_times(norm))
    numbers = tuple(_numbers(norm, [(t.start, t.end) for t in times]))
    return AnswerReading(
        text=text,
        norm=norm,
        cased=cased,
        clauses=tuple(_clauses(norm)),
        numbers=numbers,
        times=times,
        asides=_spans(norm, _PARENS),
        denied=denied,
        hedges=tuple(hit.start() for hit in _HEDGE.finditer(norm)),
        vague=tuple(hit.start() for hit in _VAGUE.finditer(norm)),
    )


def same_words(text: str) -> str:
    """Return a text's words in lower case, without punctuation and spacing."""
    return _NOT_WORDS.sub(" ", text.casefold()).strip()


def final_span(reading: AnswerReading) -> Span | None:
    """Return where the last final answer stands, by its words or in a box; None without one."""
    lines = [hit.span("said") for hit in _ANSWER_LINE.finditer(reading.norm)]
    spans = lines or [hit.span(1) for hit in _BOXED_ANSWER.finditer(reading.text)]
    return spans[-1] if spans else None


def choice_named(choices: Sequence[str], said: str) -> str | None:
    """Return the choice that a final answer names, by its text or its letter.

    Args:
        choices: the lettered choices, in order.
        said: the final answer.

    Returns:
        The choice; None where it names none or several.
    """
    words = same_words(said)
    for choice in choices:
        if same_words(choice) == words:
            return choice
    letter = _LETTER.match(said)
    if letter is not None:
        at = LETTERS.index(letter.group(1).upper())
        return choices[at] if at < len(choices) else None
    named = [o for o in choices if f" {same_words(o)} " in f" {words} "]
    longest = max(named, key=len, default=None)
    return longest if len([o for o in named if o not in (longest or "")]) <= 1 else None


def covered(spans: tuple[Span, ...] | list[Span], start: int, end: int) -> bool:
    """Tell whether a stretch overlaps one of the sorted, disjoint spans."""
    at = bisect_right(spans, (start, len(spans) and spans[-1][1] + end))
    return (at > 0 and spans[at - 1][1] > start) or (at < len(spans) and spans[at][0] < end)


def find_all(norm: str, phrase: str) -> list[Span]:
    """Return where a lower-case phrase stands as whole words."""
    found: list[Span] = []
    at = norm.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        before = at == 0 or not (norm[at - 1].isalnum() and phrase[0].isalnum())
        after = end == len(norm) or not (norm[end].isalnum() and phrase[-1].isalnum())
        if before and after:
            found.append((at, end))
        at = norm.find(phrase, end)
    return found


def merge(spans: list[Span]) -> tuple[Span, ...]:
    """Return sorted spans with overlaps joined."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _spans(norm: str, *patterns: re.Pattern[str]) -> tuple[Span, ...]:
    return merge([hit.span() for pattern in patterns for hit in pattern.finditer(norm)])


def _clauses(norm: str) -> list[Clause]:
    cuts: list[int] = []
    for hit in _BOUNDARY.finditer(norm):
        before = max(0, hit.start() - 8)
        if hit.group()[0] == "." and _ABBREVIATION.search(norm, before, hit.start()):
            continue
        cuts.append(hit.end())
    cuts.append(len(norm))
    clauses: list[Clause] = []
    begin = 0
    for cut in cuts:
        start, end = begin, cut
        begin = cut
        while start < end and norm[start] in " \n,;-":
            start += 1
        while end > start and norm[end - 1] in " \n,;":
            end -= 1
        if start == end:
            continue
        clauses.append(
            Clause(
                start=start,
                end=end,
                corrects=_CORRECTION.match(norm, start, end) is not None,
                final=_FINAL.match(norm, start, end) is not None,
                pronoun=_PRONOUN.match(norm, start, end) is not None,
            )
        )
    return clauses


def _numbers(norm: str, taken: list[Span]) -> list[Mention]:
    found: list[Mention] = []
    for hit in _NUMBER.finditer(norm):
        start, end = hit.span()
        if covered(taken, start, end) or _ORDINAL.match(norm, end):
            continue
        if end < len(norm) and norm[end].isalpha() and norm[end - 1] == ".":
            continue
        value = parse_number(hit.group("body"), hit.group("exp"), hit.group("scale"))
        if hit.group("sign") == "-" and norm[max(0, start - 1) : start] in _SIGNED_AFTER:
            value = -value
        found.append(Mention(start=start, end=end, value=value))
    found = _with_ranges(norm, found)
    spans = [(m.start, m.end) for m in found]
    for hit in _NUMBER_WORDS.finditer(norm):
        start, end = hit.span()
        if covered(taken, start, end) or covered(spans, start, end):
            continue
        number = words_to_number(hit.group())
        if number is None or (number <= 12 and _not_a_count(norm, start, end)):
            continue
        found.append(Mention(start=start, end=end, value=number, weak=True))
    for hit in _NONE.finditer(norm):
        if not norm.startswith("no, wait", hit.start()):
            found.append(Mention(start=hit.start(), end=hit.end(), value=0.0, weak=True))
    return sorted(_with_ranges(norm, sorted(found, key=_start)), key=_start)


def _start(mention: Mention) -> int:
    return mention.start


def _not_a_count(norm: str, start: int, end: int) -> bool:
    before = _NOT_A_COUNT_BEFORE.search(norm, max(0, start - 10), start)
    return before is not None or _NOT_A_COUNT_AFTER.match(norm, end) is not None


def _with_ranges(norm: str, found: list[Mention]) -> list[Mention]:
    """Join "between 41 and 43" and "41-43" to one vague value, the middle."""
    joined: list[Mention] = []
    for mention in found:
        last = joined[-1] if joined else None
        if (
            last is not None
            and not last.vague
            and isinstance(last.value, float)
            and isinstance(mention.value, float)
            and last.value < mention.value
            and mention.start - last.end <= 6
            and (gap := _RANGE.fullmatch(norm, last.end, mention.start))
        ):
            lead = _BETWEEN.search(norm, max(0, last.start - 24), last.start)
            dash = gap.group().strip() == "-" and len(gap.group()) == 1
            if (lead and not lead.group().startswith("from")) or dash:
                middle = (last.value + mention.value) / 2
                joined[-1] = Mention(start=last.start, end=mention.end, value=middle, vague=True)
                continue
        joined.append(mention)
    return joined


def parse_number(body: str, exponent: str | None = None, scale: str | None = None) -> float:
    """Read digits: `42,000` and `1.234,50` group thousands, `4,50` has a decimal comma."""
    body = body.replace("'", "").replace(" ", "")
    if "," in body and "." in body:
        decimal = "," if body.rfind(",") > body.rfind(".") else "."
        body = body.replace("." if decimal == "," else ",", "").replace(",", ".")
    elif "," in body:
        head, _, tail = body.rpartition(",")
        grouped = len(tail) == 3 and head not in ("0", "")
        body = body.replace(",", "") if grouped or "," in head else f"{head}.{tail}"
    value = float(f"{body}{exponent or ''}")
    if scale:
        value *= 1_000_000 if "million" in scale else 1000
    return value


def words_to_number(words: str) -> float | None:
    """Read number words (`forty-two`, `one hundred and five`, `four point five`) or give None."""
    whole, _, fraction = words.partition(" point ")
    total, group, last = 0, 0, ""
    for word in re.split(r"[ -]+", whole):
        if word in ("a", "and", "half"):
            continue
        if word in _UNITS:
            if last in _UNITS or (last in _TENS and not 0 < _UNITS[word] < 10):
                return None
            group += _UNITS[word]
        elif word in _TENS:
            if last in _UNITS or last in _TENS:
                return None
            group += _TENS[word]
        elif word == "dozen":
            group = max(group, 1) * 12
        elif word == "hundred":
            group = max(group, 1) * 100
        else:
            total += max(group, 1) * _MULTIPLES[word]
            group = 0
        last = word
    value = float(total + group) / (2 if whole.startswith("half a ") else 1)
    digits = [_UNITS.get(word, 10) for word in fraction.split()]
    if any(digit > 9 for digit in digits):
        return None
    return value + sum(digit * 0.1 ** (place + 1) for place, digit in enumerate(digits))


def _times(norm: str) -> list[Mention]:
    found: list[Mention] = []
    for hit in _CLOCK.finditer(norm):
        hour = int(hit.group("h"))
        if hour <= 24:
            minutes = float(hour * 60 + int(hit.group("m")))
            found.append(Mention(start=hit.start(), end=hit.end(), value=minutes))
    for hit in _SPOKEN.finditer(norm):
        spoken = _spoken_minutes(hit)
        if spoken is not None:
            found.append(Mention(start=hit.start(), end=hit.end(), value=spoken))
    for word, named in (("noon", 720.0), ("midnight", 0.0)):
        found.extend(Mention(start=a, end=b, value=named) for a, b in find_all(norm, word))
    return sorted(found, key=_start)


def _spoken_minutes(hit: re.Match[str]) -> float | None:
    sharp = hit.group("sharp")
    if sharp:
        return _hour(sharp) * 60.0
    lead = hit.group("lead").removesuffix("s").removesuffix(" minute")
    if lead == "half":
        offset: float | None = 30.0
    elif lead.endswith("quarter"):
        offset = 15.0
    else:
        offset = float(lead) if lead.isdigit() else words_to_number(lead)
    if offset is None:
        return None
    late = hit.group("side") in ("past", "after")
    minutes = _hour(hit.group("past")) * 60.0 + (offset if late else -offset)
    return minutes if minutes >= 0 else minutes + 720


def _hour(word: str) -> int:
    return int(word) if word.isdigit() else _UNITS[word]
