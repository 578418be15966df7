"""What the sweep over all screens finds on a small page, and what it lets be."""

from __future__ import annotations

import pytest

from benchmarks import sweep
from benchmarks._browser import browser

pytestmark = pytest.mark.browser
SAID: tuple[tuple[str, str, dict[str, list[str]]], ...] = (
    ("nothing", "<p>Needle</p>", {}),
    ("under 9 px", "<p style='font-size: 8px'>Needle</p>", {"small": ["8.0 px: Needle"]}),
    ("faint", "<p style='color: #999'>Needle</p>", {"faint": ["2.85: Needle"]}),
    ("off", "<button disabled style='color: #999; background: #fff'>Needle</button>", {}),
    ("cut", "<p class=cut>Reading marks</p>", {"cut": ["Reading marks"]}),
    ("cut, whole on hover", "<p class=cut title='Reading marks'>Reading marks</p>", {}),
    ("cut by the box around it", "<div class=cut><span>Reading marks</span></div>",
     {"cut": ["Reading marks"]}),
    ("a hint that is cut", "<input style='width: 60px' placeholder='no cap on the calls'>",
     {"cut": ["no cap on the calls"]}),
    ("over each other", "<p>Needle</p><p style='margin-top: -34px'>Clock</p>",
     {"over": ["Needle | Clock"]}),
    ("beside a text that wraps",
     "<p style='width: 300px'><span>Some words that take more than one line of it </span>"
     "<b>Clock</b></p>", {}),
    ("scrolled out of a list",
     "<div style='height: 40px; overflow-y: auto'><p>One</p><p>Two</p></div><p>Below</p>", {}),
    ("beyond its drawing", "<svg width=40 height=20><text y=15>Reading marks</text></svg>",
     {"cut": ["Reading marks"]}),
    ("over each other in a drawing",
     "<svg width=200 height=20><text y=15>Needle</text><text x=5 y=15>Clock</text></svg>",
     {"over": ["Needle | Clock"]}),
    ("raw", "<p>run `endpoint test`</p><p>from -0.8</p><p>nan</p><p>−0.8, 0–5, e-3</p>"
     "<p class=said>`x` -1</p><code>`x`</code>",
     {"raw": ["run `endpoint test`", "from -0.8", "nan"]}),
    ("a number apart from its unit", "<p style='width: 40px'>say 78.6 %</p>"
     "<p style='width: 40px'>say 78.6&nbsp;%</p><p class=said style='width: 40px'>say 78.6 %</p>"
     "<p style='width: 30px'>all n 60</p>", {"apart": ["6 %: say 78.6 %", "n 6: all n 60"]}),
    ("wide", "<div style='width: 2000px'>Needle</div>", {"wide": ["1200 px beyond the window"]}),
)  # fmt: skip
FRAME = """<body style="margin: 0"><style>
  * {{ font: 16px/20px sans-serif; color: #111 }} p {{ margin: 0 0 20px }}
  .cut {{ width: 50px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }}
</style><main data-testid="stMain" style="width: 800px; overflow: auto">{}</main>"""


@pytest.fixture(scope="module")
def page():
    """Return an empty page."""
    with browser() as chromium:
        yield chromium.new_page(viewport={"width": 800, "height": 600})


@pytest.mark.parametrize(("markup", "found"), [one[1:] for one in SAID],
                         ids=[one[0] for one in SAID])  # fmt: skip
def test_what_cannot_be_read_is_found_and_nothing_else(page, markup, found):
    page.set_content(FRAME.format(markup))
    seen = page.evaluate(sweep.LOOK, [sweep.LEAST_PX, sweep.CONTRAST])
    assert {kind: texts for kind, texts in seen.items() if texts} == found


def test_a_screen_is_looked_at_once_its_script_has_run_and_nothing_moves(page):
    page.set_content(
        "<html data-settled><div class=stApp data-test-script-state=running>"
        "<main class=stMain><div class=stBidiComponent data-drawn></div></main></div>"
    )

    def rests():
        page.wait_for_timeout(150)
        return page.evaluate(sweep.REST, 100)

    def script(state):
        page.evaluate("(to) => { document.querySelector('.stApp').dataset.testScriptState = to }",
                      state)  # fmt: skip

    assert [rests(), rests()] == [False, False]
    script("notRunning")
    assert [rests(), rests()] == [True, True]
    page.evaluate("() => document.querySelector('main').append('more')")
    assert page.evaluate(sweep.REST, 100) is False
    assert rests() is True
    page.evaluate(sweep.MOVE, "#elsewhere")
    assert [rests(), rests()] == [False, False]
    script("running")
    page.wait_for_timeout(20)
    script("notRunning")
    assert rests() is True
