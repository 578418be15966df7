"""Every page on two real studies: MathVista's right and wrong answers, MLLM-Bench's votes.

The Overview and the Failures have their own tests on both, in test_mathvista and test_mllm_bench.
"""

from __future__ import annotations

import re

import pytest

PAGES = {
    "pages/explore/tree.py": ("Judge it on Runs", "Judge it on Runs"),
    "pages/explore/fingerprints.py": ("numeric commonsense", "Hidden Objects Recognition"),
    "pages/explore/compare.py": ("more often than", "more of its votes than"),
    "pages/run/correction.py": ("Nothing in this study is judged step by step", "Open Runs"),
    "pages/share/reports.py": ("The report includes", "The report includes"),
}
"""What each page says of the first study, and of the second."""
SILLY = re.compile(r">\s*(nan|None|nan %|inf)\s*<")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("study", ["mathvista", "mllm_bench"])
def test_each_page_makes_sense(open_app, request, page, study):
    seen = open_app(request.getfixturevalue(study), page=page)
    assert not seen.test.exception
    assert PAGES[page][study == "mllm_bench"] in seen.markup
    assert not SILLY.search(seen.markup)
    assert "SYNTHETIC" not in seen.markup
