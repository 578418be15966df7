"""A fresh clone, the first command, no key: every page and tab opens on something worth saying."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from atom.cli.parts.demo_parts import QUESTIONS
from atom.ui import work
from atom.ui.pages import SCREENS
from tests.app.conftest import markup_of

PLACES: tuple[tuple[str, str, str], ...] = (
    ("explore/overview", "", r"leads with a mean score of|share the lead"),
    ("explore/tree", "", r"The models lose most on .+ \(\d+\.\d\) and least on "),
    ("explore/tree", "network", r"The models lose most on "),
    ("explore/tree", "criteria", r"correlation −0\.\d\d with the rest of the sample’s score"),
    ("explore/tree", "tasks", r"scenes: nearest (· )*\d+ "),
    ("explore/tree", "grow", r"From 6 roots the judge added \d+ leaves; .+ criteria now\."),
    ("explore/tree", "versions", r"3 trees in this study's history"),
    ("explore/tree", "validity", r"The tree is (not )?\w+: |The rival taxonomies"),
    ("explore/fingerprints", "", r"told apart from all others by shape|look alike"),
    ("explore/fingerprints", "answers", r"How scores spread: .+ has the most full scores"),
    ("explore/fingerprints", "apart", r"\d of \d are recognised in at least 90 % of tries"),
    (
        "explore/fingerprints",
        "errors",
        # As many as are said to differ are listed, or counted: 4 and 1.
        r"5 shares differ .+No result makes up more of model-b’s failures.+ 1 more in the table\.",
    ),
    ("explore/failures", "", r"\d+ samples with a failed checkpoint of 300 looked at"),
    (
        "explore/compare",
        "",
        r"scores [\d.]+ points \(.+?\) higher than .+ all pairs of 8 models at once",
    ),
    ("run/replay", "", r"4 steps: about [\d,]+ tokens, free, offline"),
    ("run/replay", "upload", r"Nothing is sent anywhere before you have seen the price"),
    (
        "run/correction",
        "",
        r"Asking about the failed steps fixes .+ points more .+ than luck",
    ),
    ("run/correction", "where", r"Diagnosis, by where answers failed"),
    ("run/correction", "cases", r"\d+ answers "),
    ("run/correction", "new", r"\d+ of model-a's 300 answers failed; \d+ take part"),
    ("run/correction", "one", r"\d+ answers came right when asked about the failed steps, and "),
    ("run/runs", "", r"9 runs made this study: [\d,]+ calls, of which none ended unscored"),
    (
        "trust/judge_lab",
        "",
        r"Trust probe-judge for Perception, Understanding and Reasoning\. "
        r".+too few samples are ranked by them \(4\)",
    ),
    ("trust/judge_lab", "judge", r"the judge gives the same score 100 % of the time"),
    ("trust/judge_lab", "judges", r"agree most: alpha 0\.\d\d"),
    (
        "trust/judge_lab",
        "people",
        r"ATOM: [\d.]+ % .+ stand in people’s order.+"
        r"Adjudicator \(synthetic\) marks only what others disagree on: not shown",
    ),
    (
        "trust/judge_lab",
        "sight",
        r"probe-judge-sighted .+ This judge reads the picture: .+: \+5\d\.\d points ",
    ),
    (
        "trust/judge_lab",
        "pairs",
        r"18 of 24 pairs are hard: .+; 15 of them are confirmed and make the set\. .*1\. Pairs .+"
        r"2\. Weak .+ More votes make probe-judge-coin worse on what it chose .+3\. .+4\. The set",
    ),
    ("trust/judge_lab", "vl_rewardbench", r"probe-judge is better than guessing: "),
    ("trust/judge_lab", "multi_crit", r"probe-judge is better than guessing: "),
    ("trust/judge_lab", "mm_critic", r"probe-judge is better than guessing: "),
    ("trust/judge_lab", "critic_bench", r"probe-judge .*100\.0"),
    (
        "trust/judge_lab",
        "best_of_n",
        r"probe-judge can't be told apart from guessing: gain over a random pick",
    ),
    ("trust/judge_lab", "calibration", r"probe-judge is better than guessing: scored exactly"),
    ("trust/judge_lab", "published", r"What the papers print of the models"),
    ("trust/human_check", "", r"3 people gave \d+ labels: two say the same \d+ % of the time"),
    ("share/reports", "", r"The report includes \d+ of \d+ findings, in \d+ chapters"),
    ("share/reports", "findings", r"\d+ of \d+ told"),
    ("share/data", "", r"there is 1 bundled study to look at"),
    ("share/data", "studies", r"Probe world \(synthetic demo\) SYNTHETIC"),
    ("share/data", "pictures", r"has all of its pictures"),
    ("share/data", "export", r"Files of Probe world"),
    ("share/settings", "", r"The built-in ones need no key"),
)
"""Page, tab, and what its first sentence says, with a figure of the data wherever there is one."""
SEALED = {"grow", "validity", "runs", "vl_rewardbench", "multi_crit", "mm_critic", "critic_bench",
          "best_of_n", "calibration", "human_check", "pairs", "sight"}  # fmt: skip
"""Where the offer of a copy, in an empty frame, stands below what there is to see."""
ELSEWHERE: dict[tuple[str, str], str] = {
    ("explore/tree", "map"): "where the page opens",
    ("share/data", "bring"): "where the page opens",
    ("trust/judge_lab", "verdict"): "where the page opens",
    **dict.fromkeys(
        [
            ("explore/compare", f"{side}{way}")
            for side in ("first", "second")
            for way in ("", "_right")
        ],
        "one list of the page's samples",
    ),
    **dict.fromkeys(
        [("explore/compare", one) for one in ("fail", "both_right", "neither_right")],
        "one list of the page's samples",
    ),
}
"""Tabs that this walk leaves out, each with its reason."""


@pytest.fixture
def bundled(project: Path) -> Path:
    """Return the bundled study."""
    return project / "data" / "demo"


def words(markup: str) -> str:
    """Return the text of markup, styles and pictures left out."""
    bare = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", markup, flags=re.S)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", bare)))


def tabs_of(markup: str, path: str) -> set[str]:
    """Return the page's own tabs that its links lead to."""
    found = re.findall(r'href="([^"]*)"', markup)
    asked = [urlsplit(html.unescape(one)) for one in found]
    return {tab for one in asked if one.path.strip("./") == path
            for tab in parse_qs(one.query).get("tab", [])}  # fmt: skip


def walk_ten_minutes(read: Mapping[tuple[str, str], str], project: Path) -> None:
    """Look on each place of the script in docs/demo.md for the words that it puts in bold.

    What it has somebody ask in words is among the questions that the bundled judge has read.
    """
    text = (project / "docs" / "demo.md").read_text(encoding="utf-8").partition("## Ten minutes")[2]
    assert set(re.findall(r" type \*(.+?)\*", text)) & set(QUESTIONS)
    # Each names the study: after the first three minutes one's own copy would open.
    place = r"`([a-z-]+)\?study=demo:\w+(?:&tab=(\w+))?`"
    rows = re.findall(rf"^\| \d+:\d\d \| {place} \|.*\*\*(.+?)\*\*", text, re.M)
    assert len(rows) == 11
    files = {screen.url_path: screen.file for screen in SCREENS}
    missing = [
        (path, tab, bold)
        for path, tab, bold in rows
        if bold not in read[files[path].removeprefix("pages/").removesuffix(".py"), tab]
    ]
    assert missing == []


def bare(text: str) -> str:
    """Return text without room between its words, which markup may add or leave out."""
    return re.sub(r"\s+", "", text)


def hold_pictures(read: Mapping[tuple[str, str], str], project: Path) -> None:
    """Look for the headings of docs/images on the pages that they show.

    What follows a comma or a colon is of the model, the case or the numbers that are shown.
    """
    kept = json.loads((project / "docs/images/headings.json").read_text(encoding="utf-8"))
    assert set(kept) == {file.stem for file in (project / "docs" / "images").glob("*.png")}
    pages = {page.partition("/")[2]: bare(words) for (page, tab), words in read.items() if not tab}
    assert [
        (name, heading)
        for name, headings in kept.items()
        for heading in headings
        if bare(re.split(r"[,:]| of model-", heading)[0]) not in pages[name]
    ] == [], "make the pictures again: python benchmarks/images.py"


@pytest.mark.slow
def test_ways_from_a_judges_marks_keep_their_own_readers_filters(open_app, bundled, tmp_path):
    def kept(**query):
        at = (tmp_path / "own", "pages/trust/judge_lab.py", {"tab": "sight", **query}, bundled)
        ways = re.findall(r'href="([^"]*failures[^"]*sample=[^"]*)"', open_app(*at).markup)
        assert ways
        return all("reading=said" in way for way in ways)

    assert (kept(), kept(reading="said"), kept()) == (False, True, False)


@pytest.mark.slow
def test_every_page_and_tab_opens_on_a_sentence_that_follows_from_the_data(
    open_app, bundled, project, tmp_path
):
    wrong, read, unread = [], {}, {}
    known = {(page, tab) for page, tab, _ in PLACES} | set(ELSEWHERE)
    paths = {screen.file: screen.url_path for screen in SCREENS}
    for page, tab, sentence in PLACES:
        query = {"tab": tab} if tab else {}
        seen = open_app(tmp_path / "own", f"pages/{page}.py", query, bundled)
        for _ in range(5):
            if not (running := work.jobs().running()):
                break
            for job in running:
                job.wait(60)
            seen.test.run()
        shown = words(markup_of(seen.test))
        read[page, tab] = shown
        doors = tabs_of(seen.markup, paths[f"pages/{page}.py"])
        unread.update({(page, door): tab for door in doors if (page, door) not in known})
        found = re.search(sentence, shown)
        name = tab or page.partition("/")[2]
        head = seen.markup.partition('class="head"')[2].partition("</div>")[0]
        # Settings are about no study.
        if ("SYNTHETIC" in head) is (page == "share/settings"):
            wrong.append(f"{page} {tab} is labelled wrongly in its head: {head!r}")
        begins = seen.markup.find('class="empty')
        if seen.test.exception or found is None:
            wrong.append(f"{page} {tab}: no {sentence!r} in {shown[:400]!r}")
        elif begins >= 0 and name not in SEALED:
            wrong.append(f"{page} {tab} shows an empty frame")
    assert wrong == []
    assert {f"pages/{page}.py" for page, _, _ in PLACES} == {screen.file for screen in SCREENS}
    assert unread == {}
    walk_ten_minutes(read, project)
    hold_pictures(read, project)
