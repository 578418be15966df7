"""Ask the study: a question in words opens a view, and says what was understood."""

from __future__ import annotations

from atom.ui.shell import ask_box
from tests.app.conftest import markup_of


def test_the_field_stands_on_explore_pages_alone(open_app, made):
    assert "data-ask" in open_app(made.folder, "pages/explore/compare.py").markup
    assert "data-ask" not in open_app(made.folder, "pages/share/data.py").markup


def test_what_was_understood_stands_on_the_view_that_it_opened_alone(open_app, made):
    seen = open_app(made.folder, "pages/explore/tree.py", {"study": made.study.id})
    at = ("tree", {"study": [made.study.id]})
    note = ask_box.QuestionNote(
        question="<b>how</b> is the tree, quickly?",
        said="Capability tree",
        left=("quickly",),
        at=at,
    )
    seen.test.session_state[ask_box.NOTE] = note
    seen.test.run()
    shown = markup_of(seen.test)
    assert "Understood: Capability tree." in shown
    assert "Not understood: quickly." in shown
    assert "&lt;b&gt;how" in shown
    seen.test.query_params["model"] = made.candidate_ids[0]
    seen.test.run()
    assert "Understood" not in markup_of(seen.test)
