"""Facts, as they are written for a terminal and drawn on a screen."""

from __future__ import annotations

from atom.display.facts import Facts
from atom.display.table import Column, Table
from atom.display.writers import said
from atom.ui import kit

PARTS: Table[int] = Table(
    label="By part",
    columns=(Column(title="Calls", of=lambda n: n, number=True),),
    rows=(1200,),
)
FACTS = Facts(head="1,200 calls, free.", more=("`run status` says more.", "So."), table=PARTS)


def test_every_reader_is_told_the_same():
    assert said(FACTS) == ["1,200 calls, free.", "`run status` says more.", "So.", "Calls", "1,200"]
    drawn = kit.facts(FACTS)
    assert "1,200 calls, free." in drawn
    assert "<code>run status</code> says more. So." in drawn
    assert "By part" in drawn
    assert "1,200</td>" in drawn


def test_a_sentence_alone_is_a_sentence_alone():
    assert said(Facts(head="Nothing is left.")) == ["Nothing is left."]
    assert kit.facts(Facts(head="Nothing is left.")).count("<p") == 1
