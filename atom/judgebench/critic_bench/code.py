"""Whether a corrected answer is right: a value compared, or a program that passes its tests.

Programs aren't run here: `programs` says what is to be run, and whoever ran it gives the verdicts
back. The published scripts run every reply without a fence; here it is done only when asked for.

Reference: CriticBench 4.1 (pass rate on mathematics and code); METHODS A18.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from atom.judgebench.rates import INVALID, RIGHT, WRONG
from atom.records import BenchItem, Sample, Verdict
from atom.stages.texts.final_answer import compare_response, find_statements
from atom.stages.texts.quantities import (
    Quantity,
    find_quantities,
    read_quantity,
    same_quantity,
    tidy,
)
from atom.stages.verdicts import blank

RUN_CODE: Final = "run_code"
"""The part that has programs run."""
CODE_RUN: Final = "code_run"
"""Begins the part of verdicts that say what came of running a correction."""
VALUE_DOMAINS: Final = ("math_cot", "math_pot")
"""Corrections with a known value; in `math_pot` a program prints it."""
CODE_DOMAINS: Final = ("code_exec", "code_not_exec")
"""Corrections with unit tests."""
OBJECTIVE_DOMAINS: Final = (*VALUE_DOMAINS, *CODE_DOMAINS)
PROGRAM_DOMAINS: Final = ("math_pot", *CODE_DOMAINS)
"""Corrections that are programs."""
SANDBOX: Final = "sandbox/1"
"""Stands before the correction's own prompt in verdicts on programs."""
_CORRECTION: Final = "correction"
_TAIL: Final = 4000
_BLOCK = re.compile(r"```[ \t]*+(?P<language>\w*+)[^\n`]*+\n(?P<code>.*?)```", re.DOTALL)
_RESULT = re.compile(r"^\W*(?:final\s+)?(?:result|answer)\W*[:：=]\s*", re.IGNORECASE)
_PREAMBLE: Final = (
    "import bisect, cmath, collections, copy, datetime, decimal, fractions, functools, heapq\n"
    "import itertools, math, random, re, statistics, string, sys, time\n"
    "from collections import Counter, OrderedDict, defaultdict, deque\n"
    "from functools import lru_cache, reduce\n"
    "from itertools import accumulate, combinations, permutations, product\n"
    "from math import *\n"
    "from typing import *\n"
)
"""Names that the benchmark's own scripts give a program, as far as Python's library has them."""
FENCE: Final = "\x1eAtomscope: the program came to its end\x1e"
"""Printed last: a program that leaves early passed nothing."""

ProgramEnd = Literal["ended", "timeout", "limit", "error", "no_module"]


@dataclass(frozen=True, kw_only=True)
class ProgramResult:
    """What came of running a program.

    Args:
        ended: `ended` of itself and without an error; `timeout`; `limit`, a limit of the sandbox
            stopped it; `error`, an exception or a bad exit; `no_module`, it needs a library that
            the sandbox doesn't have.
        output: what it printed, cut.
        reason: one sentence, where it didn't end of itself.
    """

    ended: ProgramEnd
    output: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class CorrectionProgram:
    """A correction that is to be run.

    Args:
        source: the whole program; None where the correction holds none.
        read: turns what came of it into the verdict.
    """

    blank: Verdict
    source: str | None
    read: Callable[[ProgramResult], Verdict]


# --- by value ------------------------------------------------------------------------------------


def value_code(truth: str, correction: Verdict) -> int:
    """Say whether a corrected answer has the known value.

    Args:
        truth: the known answer: a value, or a solution that ends with it.
        correction: the scored verdict; its short answer counts, else what its text ends with.

    Returns:
        1 right, 0 wrong, -1 where no rule can tell.

    Reference:
        METHODS A18, B15. The published rule takes the last number of either text and asks for
        equal floats; here units, fractions, percentages and the shown decimals are minded.
    """
    final = str(correction.data.get("final_answer", ""))
    verdict = same_value(truth, final) if final.strip() else None
    if verdict is None:
        verdict = same_value(truth, correction.text)
    return INVALID if verdict is None else RIGHT if verdict else WRONG


def same_value(truth: str, answer: str) -> bool | None:
    """Compare a text's value with a known one; None where no rule can tell."""
    known = known_value(truth)
    if isinstance(known, str):
        sample = Sample(id="truth", dataset="critic_bench", question="", reference=known)
        verdict = compare_response(sample, answer)
        return None if verdict is None else verdict.right
    given = read_quantity(answer) or _last_quantity(answer)
    return None if given is None else same_quantity(known, given)


def known_value(truth: str) -> Quantity | str:
    """Return the value that a known answer ends with, as a quantity where it is one."""
    whole = read_quantity(truth)
    if whole is not None:
        return whole
    if len(truth) <= 40 and not find_quantities(tidy(truth)):
        return truth.strip()
    last = _last_quantity(truth)
    return truth.strip() if last is None else last


def _last_quantity(text: str) -> Quantity | None:
    """Return the quantity that a text settles on, else its last one."""
    for statement in find_statements(text):
        said = _RESULT.sub("", statement.text.strip(" .*#"))
        quantity = read_quantity(said) or read_quantity(re.split(r"[=≈]", said)[-1])
        if quantity is not None and statement.sure:
            return quantity
    found = find_quantities(tidy(text[-_TAIL:]))
    return found[-1].quantity if found else None


# --- by running ----------------------------------------------------------------------------------


def run_part(part: str) -> str:
    """Name the part of what came of running a correction, by the correction's own part."""
    return CODE_RUN if part == _CORRECTION else f"{CODE_RUN}/{part}"


def run_codes(corrections: Sequence[Verdict], runs: Sequence[Verdict]) -> list[int]:
    """Say what became of an item's corrected programs.

    Args:
        corrections: the corrections, of one part.
        runs: what came of running them.

    Returns:
        1 passed, 0 didn't, -1 can't be told, a number a correction; nothing while one of them
        waits to be run.
    """
    unread = [INVALID for one in corrections if one.state == "unscored"]
    if len(runs) < sum(one.state == "scored" for one in corrections):
        return []
    return [
        INVALID if one.state != "scored" else RIGHT if one.value else WRONG for one in runs
    ] + unread


def programs(items: Sequence[BenchItem], verdicts: Sequence[Verdict]) -> list[CorrectionProgram]:
    """Return the corrections that are programs and weren't run yet, whatever critique they had.

    Args:
        verdicts: one judge's, corrections among them, and what was run before.
    """
    data = {item.id: item.data for item in items}
    ran = {verdict.key for verdict in verdicts if verdict.part.startswith(CODE_RUN)}
    found = []
    for verdict in verdicts:
        mine = data.get(verdict.subject_id)
        revised = verdict.part.partition("_")[0] == _CORRECTION
        if not revised or verdict.state != "scored" or mine is None:
            continue
        if mine["domain"] not in PROGRAM_DOMAINS:
            continue
        program = _program(mine, verdict)
        if program.blank.key not in ran:
            found.append(program)
    return found


def _program(data: Mapping[str, Any], correction: Verdict) -> CorrectionProgram:
    empty = blank(
        correction.group, correction.subject_id, run_part(correction.part), correction.judge,
        f"{SANDBOX}+{correction.prompt}", correction.sampling, repeat=correction.repeat,
    )  # fmt: skip
    code = code_of(correction.text)
    valued = data["domain"] == "math_pot"
    source = None if code is None else _source(data, code, valued=valued)

    def read(ran: ProgramResult) -> Verdict:
        return _verdict(empty, ran, data["truth"] if valued else None)

    return CorrectionProgram(blank=empty, source=source, read=read)


def code_of(text: str) -> str | None:
    """Return the program in a correction: its first Python block, else all of it if it is one."""
    blocks = [(m["language"].lower(), m["code"]) for m in _BLOCK.finditer(text)]
    for language, code in blocks:
        if language in ("python", "python3", "py"):
            return code
    if blocks:
        return blocks[0][1] if not blocks[0][0] else None
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return text if text.strip() else None


def _source(data: Mapping[str, Any], code: str, *, valued: bool) -> str:
    """Put a program together: names that it may use, itself, its tests, and the last line."""
    if valued:
        call = "print(Solution().solution())" if "class Solution" in code else _valued_call(code)
        return f"{_PREAMBLE}\n{code}\n{call}\nprint({FENCE!r})\n"
    tests = data["tests"]
    if data.get("source") == "humaneval" and re.search(r"^def check\(", tests, re.MULTILINE):
        name = _first_function(code)
        tests += f"\ncheck({name})" if name else "\nraise SystemExit('no function')"
    return f"{_PREAMBLE}\n{code}\n{tests}\nprint({FENCE!r})\n"


def _valued_call(code: str) -> str:
    """Print what the first function without arguments returns; the program may print by itself."""
    match = re.search(r"^def\s+(\w+)\s*\(\s*\)", code, re.MULTILINE)
    return f"print({match[1]}())" if match and "print(" not in code else ""


def _first_function(code: str) -> str:
    match = re.search(r"^(?:async\s+)?def\s+(\w+)", code, re.MULTILINE)
    return match[1] if match else ""


def no_program(program: CorrectionProgram) -> Verdict:
    """Return the verdict on a correction that holds no program: it hasn't passed."""
    detail = "the correction holds no Python program"
    return program.blank.model_copy(update={"state": "unscored", "detail": detail})


def _verdict(empty: Verdict, ran: ProgramResult, truth: str | None) -> Verdict:
    if ran.ended == "no_module":
        return empty.model_copy(update={"state": "unscored", "detail": ran.reason})
    output, fence, _ = ran.output.partition(FENCE)
    right = ran.ended == "ended" and bool(fence)
    reason = ran.reason or ("" if right else "it left before its tests were through")
    if right and truth is not None:
        lines = [line for line in output.splitlines() if line.strip()]
        same = same_value(truth, lines[-1]) if lines else False
        if same is None:
            return empty.model_copy(
                update={"state": "unscored", "detail": "no rule can compare what it printed"}
            )
        right, reason = same, "" if same else "it printed another value"
    return empty.model_copy(
        update={
            "state": "scored",
            "value": 1.0 if right else 0.0,
            "label": "passed" if right else "failed",
            "detail": reason[:500],
        }
    )
