"""What people have said of a study so far, for those who only look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from atom.display import numbers
from atom.records import Annotation, AnnotationKind
from atom.ui import kit, links
from atom.ui.html import Html, el
from atom.ui.pages import JUDGE_LAB
from atom.ui.people.guides import KIND_WORDS
from atom.ui.shell.frame import Here
from atom.views.people.annotations import KindAgreement, agreement_of, load_annotations, people_of


def so_far(here: Here) -> Html | None:
    """Say who has labelled a study and how far they agree; None where nobody has."""
    labels = load_annotations(here.store, here.entry.study.id)
    given = [label for label in labels if label.state == "given"]
    if not given:
        return None
    kinds = [agreement_of(given, kind) for kind in get_args(AnnotationKind)]
    kinds = [found for found in kinds if found.labels]
    against = links.address(JUDGE_LAB.url_path, here.filters, tab="people")
    return el(
        "section",
        el("p", answer(given, kinds), class_="strong"),
        kit.grid(
            kinds,
            kit.MarkupColumn("What was asked", lambda one: KIND_WORDS[one.kind].capitalize()),
            kit.number("Labels", lambda one: f"{one.labels:,}"),
            # A ranking of n answers is one label, and orders n (n - 1) / 2 pairs.
            kit.number(
                _TWICE, lambda one: f"{one.both:,}{' pairs' if one.kind == 'ranking' else ''}"
            ),
            kit.number("Equal", lambda one: numbers.share(one.exact)),
            kit.number(
                kit.term("Krippendorff's alpha", "Alpha"), lambda one: numbers.plain(one.alpha)
            ),
            kit.number("Settled by a third", lambda one: f"{one.settled:,}"),
            kit.number("Open", lambda one: f"{one.conflicts:,}"),
            label="How far people agree",
        ),
        el("p", "By ", ", ".join(people_of(given)), ". ",
           kit.door("How far the judge follows them", against), class_="small"),
        class_="stack",
    )  # fmt: skip


_TIP = "what two people or more labelled; of rankings, each pair that they order"
_TWICE = el("span", "Labelled twice", class_="term", tabindex="0", data_tip=_TIP)


def answer(given: Sequence[Annotation], kinds: Sequence[KindAgreement]) -> str:
    """Say in a sentence how far people agree on scores, else on what they labelled most."""
    people = numbers.count(len(people_of(given)), "person", "people")
    begin = f"{people} gave {numbers.count(len(given), 'label')}"
    both = [found for found in kinds if found.both and found.people > 1]
    if not both:
        return f"{begin}; a second person's labels will show agreement."
    most = next((f for f in both if f.kind == "score"), max(both, key=lambda f: f.both))
    settled, left = sum(f.settled for f in kinds), sum(f.conflicts for f in kinds)
    return (
        f"{begin}: two say the same {numbers.share(most.exact)} of the time "
        f"({KIND_WORDS[most.kind]}); a "
        f"third settled {numbers.count(settled, 'conflict')}, and {left} are open."
    )
