from atom.ui.shell.glossary import glossary, meaning, parse_glossary


def test_terms_are_read_with_their_meaning():
    found = parse_glossary("# Words\n\n**Lucky** — Right answer, [wrong](x.md) `reason`.\nother\n")
    assert found == {"lucky": "Right answer, wrong reason."}


def test_a_line_may_name_a_term_twice():
    found = parse_glossary("**Candidate (model)** — Who answers.")
    assert found == {"candidate": "Who answers.", "model": "Who answers."}


def test_the_glossary_explains_what_the_screens_say():
    for term in ("lucky", "unscored", "judge-scale", "criterion", "weight", "interval"):
        assert meaning(term), term


def test_an_unknown_term_and_a_missing_file(tmp_path):
    assert meaning("no such term") is None
    assert glossary(tmp_path / "none.md") == {}
