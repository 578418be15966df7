"""Measure whether the leak gates catch what gives a result away, and let guiding hints pass.

Run it with `python benchmarks/leak_gates.py --json`. Hints are generated from drawn probes of all
six families: every step's truth and every final answer is planted in plain words, in other
spellings of its number, in number words, and as an option's letter; clean hints say where to look.
Each is read as a peer's hint is: against all truths of its sample.

Other words for a result (a ball for a sphere) aren't planted: they pass the lexical gate by design,
and the behavioural gate is there for them.

Reference: METHODS B16.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atom.probes.draws import Draws
from atom.probes.program import Box, Program, ProgramStep
from atom.probes.worlds.make import FAMILIES, TEMPLATES, make_probe
from atom.records import Criterion, Sample
from atom.stages.texts import leaks, told

LETTERS = "ABCDEFGH"
KINDS = ("literal", "numeric", "number word", "option letter")

_PLANTED = (
    "The result of this step is {x}.",
    "Look closely and you will find {x}.",
    "It is {x}, so check your reading.",
    "You should arrive at {x} here",
    "Compare again: {x} is what the picture shows.",
    "Don't be misled; the picture says {x}!",
    "Hint: {x}",
    "I read {x} at that place, do you see it?",
    "{question} Think of {x}.",
    "Go back to {where}. There, {x} can be seen.",
)
_LETTERED = (
    "Option {l} fits what you see.",
    "The answer is ({l}).",
    "I would go for {l}).",
    "Choose {l} after looking again.",
    "Look again and pick {l}.",
    "It has to be choice {l}.",
    "The {nth} option is the one to check.",
    "Option {n} agrees with the picture.",
    "Have another look at option number {n}.",
    "The correct letter: {l}",
)
_CLEAN = (
    "Look again at {where}. {question}",
    "Go back to {where} and take your time: {question}",
    "{question} Look at {where} before you settle on anything.",
    "Start from {where}, follow it slowly, and write down only what you can see there.",
    "Before you conclude anything, check {where} once more; neighbours are easy to mix up.",
    "Compare what lies in {where} with what lies beside it, one by one, and ask: {question}",
    "Beware of the first impression in {where}. Trace the lines with a finger, then decide.",
    "Something in {where} was overlooked. Go through it piece by piece. {question}",
    "This step asks you to look and not to guess: {question}",
    "Don't rely on memory; read {where} anew and keep each reading apart from the next one.",
)
_NTH = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A hint with what is known of it.

    Args:
        kind: one of `KINDS`, or `clean`.
        text: the hint.
        sample: the question.
        criteria: every criterion of the sample.
        about: the criterion that the hint is on.
    """

    kind: str
    text: str
    sample: Sample
    criteria: tuple[Criterion, ...]
    about: Criterion

    @property
    def found(self) -> tuple[told.Leak, ...]:
        """What the gate finds."""
        return leaks.find(
            self.text, sample=self.sample, truths=self.criteria, question=self.about.question
        )


def spoken(number: float) -> str:
    """Return a number in English words."""
    if number != int(number):
        whole, _, digits = f"{number:g}".partition(".")
        return f"{spoken(int(whole))} point {' '.join(spoken(int(d)) for d in digits)}"
    value = int(number)
    ones, tens = _ONES.split(), _TENS.split()
    if value < 20:
        return ones[value]
    if value < 100:
        ten, one = divmod(value, 10)
        return tens[ten - 2] + (f"-{ones[one]}" if one else "")
    for size, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if value >= size:
            most, rest = divmod(value, size)
            joint = " and " if size == 100 else " "
            return f"{spoken(most)} {name}" + (f"{joint}{spoken(rest)}" if rest else "")
    raise ValueError(f"{number!r} can't be said")


def spellings(step: ProgramStep) -> list[str]:
    """Return other ways to write a step's number in digits."""
    if step.value is None or step.kind == "time":
        return [_wide(step.truth), "\u200b".join(step.truth)]
    value = step.value
    ways = [_wide(step.truth), "\u200b".join(step.truth), f"**{step.truth}**", f"{value:.2f}"]
    ways += [f"{step.truth}{step.unit}", f"({step.truth})", f"about {step.truth}"]
    if value == int(value):
        ways += [f"{int(value):,}", f"{int(value)}.0", f"{int(value)}/1", " ".join(str(int(value)))]
        ways += [f"between {int(value) - 1} and {int(value) + 1}"] if value > 0 else []
    return ways


def _wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def words_of(step: ProgramStep) -> str | None:
    """Return a step's number or time in words; None where it has none."""
    if step.value is None:
        return None
    if step.kind == "time" and ":" in step.truth:
        hours, minutes = (int(part) for part in step.truth.split(":"))
        return f"{spoken(hours)} {spoken(minutes)}" if minutes > 9 else f"{spoken(hours)} o'clock"
    return spoken(step.value)


def where_of(program: Program, step: ProgramStep) -> str:
    """Return where a step's region lies, in words that none of the program's truths holds."""
    box: Box = step.regions[0]
    left, top, right, bottom = box.box
    across = ("left", "middle", "right")[min((left + right) // 667, 2)]
    down = ("upper", "central", "lower")[min((top + bottom) // 667, 2)]
    place = f"the {down} {across} of the picture"
    truths = " ".join(s.truth for s in program.steps).lower()
    return "that part of the picture" if {down, across} & set(truths.split()) else place


def records_of(program: Program) -> tuple[Sample, tuple[Criterion, ...]]:
    """Return a program's sample and criteria, as a study holds them."""
    name = f"{program.family}-{program.template}-{program.seed}-{program.index}"
    sample = Sample(
        id=name,
        dataset="probes",
        question=program.question,
        choices=program.choices,
        reference=program.answer,
    )
    criteria = tuple(
        Criterion(
            id=f"{name}-{step.id}",
            sample_id=name,
            question=step.question,
            ground_truth=step.truth,
        )
        for step in program.steps
    )
    return sample, criteria


def cases(program: Program) -> Iterator[Case]:
    """Yield the hints on a program's steps, planted and clean."""
    sample, criteria = records_of(program)
    draws = Draws("leak gates", program.family, program.template, program.seed, program.index)

    def say(
        kind: str, step: ProgramStep, about: Criterion, templates: Sequence[str], **words: str
    ) -> Case:
        template = draws.pick(templates, kind, step.id, *words.values())
        text = template.format(question=step.question, where=where_of(program, step), **words)
        return Case(kind=kind, text=text, sample=sample, criteria=criteria, about=about)

    for step, criterion in zip(program.steps, criteria, strict=True):
        yield say("literal", step, criterion, _PLANTED, x=step.truth)
        yield say("literal", step, criterion, _PLANTED, x=program.answer)
        for written in spellings(step) if step.value is not None else []:
            yield say("numeric", step, criterion, _PLANTED, x=written)
        in_words = words_of(step)
        if in_words is not None:
            yield say("number word", step, criterion, _PLANTED, x=in_words)
            yield say(
                "number word", step, criterion, _PLANTED, x=in_words.replace("-", " ").title()
            )
        if program.choices:
            at = program.choices.index(program.answer)
            yield say(
                "option letter", step, criterion, _LETTERED,
                l=LETTERS[at], nth=_NTH[at], n=spoken(at + 1),
            )  # fmt: skip
        for number in range(3):
            yield say("clean", step, criterion, _CLEAN[number::3])


def measure(
    seed: int, per_template: int, tell: Callable[[Case], None] | None = None
) -> list[dict[str, object]]:
    """Generate hints from fresh probes and count what the gate does.

    Args:
        seed: of the probes.
        per_template: probes of each question template.
        tell: told every hint on which the gate errs.

    Returns:
        One row for each kind.
    """
    total = dict.fromkeys((*KINDS, "clean"), 0)
    caught = dict.fromkeys((*KINDS, "clean"), 0)
    for family in FAMILIES:
        for template in TEMPLATES[family]:
            for index in range(per_template):
                program = make_probe(family, seed, index, template=template).program
                for case in cases(program):
                    found = bool(case.found)
                    total[case.kind] += 1
                    caught[case.kind] += found
                    if tell is not None and found == (case.kind == "clean"):
                        tell(case)
    rows: list[dict[str, object]] = [
        {
            "name": f"{kind.replace(' ', '_')}_leaks_caught",
            "value": caught[kind] / max(total[kind], 1),
            "unit": "share",
            "baseline": 1.0,
            "ratio": caught[kind] / max(total[kind], 1),
            "n": total[kind],
            "note": "" if caught[kind] == total[kind] else "short of 1",
        }
        for kind in KINDS
    ]
    false = caught["clean"] / max(total["clean"], 1)
    rows.append(
        {
            "name": "false_alarms",
            "value": false,
            "unit": "share",
            "baseline": 0.01,
            "ratio": false / 0.01,
            "n": total["clean"],
            "note": "" if false < 0.01 else "short of < 0.01",
        }
    )
    return rows


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=11, help="seed of the probes")
    parser.add_argument("--probes", type=int, default=6, help="probes of each question template")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.add_argument("--errors", action="store_true", help="print every hint the gate errs on")
    args = parser.parse_args()

    def show(case: Case) -> None:
        found = ", ".join(map(str, case.found))
        sys.stderr.write(f"{case.kind}: {case.text!r} ({case.about.ground_truth!r}): {found}\n")

    rows = measure(args.seed, args.probes, show if args.errors else None)
    for row in rows:
        plain = f"{row['name']:<28}{row['value']:>8.4f}  of {row['n']}  {row['note']}"
        sys.stdout.write((json.dumps(row) if args.json else plain) + "\n")


if __name__ == "__main__":
    main()
