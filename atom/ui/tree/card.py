"""A node laid open: the models' scores on it, its worst criteria, what is below it."""

from __future__ import annotations

from atom.display import numbers
from atom.ui import kit, links, score_marks
from atom.ui.fingerprints.blind import NEEDS, signed
from atom.ui.html import Html, el, join
from atom.ui.judges import differing as judges_differing
from atom.ui.media import media_address
from atom.ui.pages import FAILURES
from atom.ui.people import scale as people_scale
from atom.ui.shell.frame import Here
from atom.ui.tree.query import STATUS, style, to, whose
from atom.views.failures.marked import points_words
from atom.views.fingerprints.blind import NodeNeed
from atom.views.lab.judge_marks import JudgeMark
from atom.views.overview.differing import PanelDifference
from atom.views.overview.evidence import NodeEvidence
from atom.views.overview.weakness_words import evidence_words, frame_words, more_words
from atom.views.pictures import read_thumbnail
from atom.views.tree.node_table import NodeTable
from atom.views.tree.page import (
    ModelScore,
    NodeCard,
    WorstCriterion,
)
from taxonomy import format_path


def card(
    here: Here,
    nodes: NodeTable,
    node: NodeCard,
    log: Html | None = None,
    said: NodeEvidence | None = None,
    judge: JudgeMark | None = None,
    need: NodeNeed | None = None,
    differ: PanelDifference | None = None,
) -> Html:
    """Draw a node: what it means, who is good at it, what goes wrong there, a judge's flaw."""
    support = [
        numbers.count(node.criteria, "criterion", "criteria"),
        numbers.count(node.samples, "sample"),
    ]
    if node.kind != "capability":
        support.append(numbers.count(node.leaves, "capability", "capabilities"))
    return el(
        "div",
        style(),
        el(
            "div",
            _crumbs(here, node),
            el("div", node.name, class_="name"),
            kit.under(" · ".join(support)),
            kit.status("insufficient", "insufficient: under 5 samples") if node.thin else None,
            el("div", judge.text, class_="status weak", data_tip=judge.tip) if judge else None,
            el("p", node.meaning, class_="meaning", style="margin-top:6px")
            if node.meaning
            else None,
            _said(here, said) if said is not None else None,
            _needs(need) if need is not None else None,
            judges_differing.line(differ),
        ),
        _strip(here, node),
        _worst(here, node),
        _below(here, nodes, node),
        log,
        class_="card",
    )


def _needs(need: NodeNeed) -> Html:
    """Say how much the picture helps here, where a blind control asked."""
    return el(
        "div",
        f"The picture: {NEEDS[need.need]}. Gain {signed(need.gain)} points over answers "
        f"without it, n {numbers.count(need.gain.samples, 'question')}",
        class_="quiet small",
        data_testid="node-need",
    )


def _said(here: Here, said: NodeEvidence) -> Html:
    """Say what the diagnosis says of the chosen model here."""
    n = f"n {numbers.count(said.samples, 'sample')}, {numbers.count(said.n, 'checkpoint')}"
    lines = (evidence_words(said), f"{frame_words(said)}; {n}", more_words(said))
    return el(
        "div",
        el("div", whose(here), ": ", kit.status(STATUS[said.label])),
        [kit.under(line) for line in lines if line],
        class_="found",
    )


def _crumbs(here: Here, node: NodeCard) -> Html:
    if not node.path:
        return el("div", "The whole tree; choose a node in the map", class_="crumbs")
    above = node.path[:-1]
    doors: list[Html | str] = [kit.door("Tree", to(here, here.filters.but(node=())))]
    for depth in range(1, len(above) + 1):
        doors += [" › ", kit.door(above[depth - 1], to(here, here.filters.but(node=above[:depth])))]
    return el("div", doors, f" · {node.kind}", class_="crumbs")


def _strip(here: Here, node: NodeCard) -> Html | None:
    if not any(score.estimate.known for score in node.scores):
        return el("p", "No score here yet.", class_="quiet small")
    return el(
        "section",
        el(
            "h3",
            el("span", kit.term("Node score", "Mean score"), ", 95 % interval"),
            el("span", "0–100, ", people_scale.word(here)),
        ),
        el(
            "div",
            [_model_row(here, score) for score in node.scores],
            el("span", [el("span", end) for end in ("0", "50", "100")], class_="axis quiet small"),
            class_="strip",
        ),
    )


def _model_row(here: Here, score: ModelScore) -> Html:
    estimate = score.estimate
    tip = (
        f"{numbers.interval(estimate)}\n{numbers.count(estimate.n, 'checkpoint')} from "
        f"{numbers.count(estimate.samples, 'sample')}"
        if estimate.known
        else "no score here"
    )
    return el(
        "a",
        kit.model(numbers.middle(score.name, 16), score.colour, full=score.name),
        score_marks.interval_bar(estimate, score.colour),
        el("span", numbers.score(estimate.value), class_="num"),
        href=links.address(FAILURES.url_path, score.filters),
        data_go=True,
        class_="on" if score.model_id == here.filters.model else None,
        data_tip=tip,
    )


def _worst(here: Here, node: NodeCard) -> Html | None:
    if not node.worst:
        return None
    model = here.data.model_index(here.filters.model)
    who = "all models" if model is None else here.data.candidates[model].name
    return el(
        "section",
        el("h3", el("span", f"Criteria that lose most, {who}"),
           el("span", "mean of 1–5" if here.data.table.ours else "mean of 0–100")),
        el("div", [_criterion(here, item, at) for at, item in enumerate(node.worst)],
           class_="worst"),
    )  # fmt: skip


def _criterion(here: Here, item: WorstCriterion, at: int) -> Html:
    address = None
    if item.picture_id is not None:
        address = media_address(read_thumbnail(here.store, item.picture_id), f"tree.worst.{at}")
    if address is not None:
        thumb = el("img", src=address, alt="", loading="lazy")
    else:
        words = "no picture" if item.picture_id or item.picture_name else "text only"
        thumb = el("span", words, class_="nothumb")
    near = min(max(round(item.score), 1), 5)
    return el(
        "a",
        thumb,
        el("span", item.question, class_="q"),
        score_marks.score_chip(near, text=points_words(item.score, ours=here.data.table.ours)),
        href=links.address(FAILURES.url_path, item.filters),
        data_go=True,
        data_tip=f"{item.question[:300]}\nTruth: {item.truth[:200]}\n"
        f"{format_path(item.leaf)}\nmean of {numbers.count(item.n, 'answer')}",
    )


def _below(here: Here, nodes: NodeTable, node: NodeCard) -> Html | None:
    if not node.children or not node.path:
        return None
    return el(
        "section",
        el("h3", el("span", f"Below {numbers.middle(node.name, 26)}"), el("span", "criteria")),
        el(
            "div",
            [
                el(
                    "a",
                    el("span", nodes.paths[child][-1], class_="cut"),
                    kit.quiet(int(nodes.criteria[child])),
                    href=to(here, here.filters.but(node=nodes.paths[child])),
                    data_go=True,
                )
                for child in node.children[:12]
            ],
            class_="below",
        ),
    )


def unplaced(nodes: NodeTable) -> Html | None:
    """Say how many criteria hang nowhere."""
    if not nodes.unplaced:
        return None
    words = numbers.count(nodes.unplaced, "criterion belongs", "criteria belong")
    return kit.notice(join(f"{words} to no capability of this tree yet: map with ",
                           el("code", "atom run start --stages mapping"), "."))  # fmt: skip
