import pytest

from atom.judgebench.multi_crit.criteria import find_criterion, in_order, names_of


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("efficiency", "efficiency"),
        ("Conciseness and Efficiency", "efficiency"),
        ("visual_grounding_and_details", "grounding"),
        ("Factuality / No Hallucination", "hallucination"),
        ("coherence", "clarity"),
        ("logic_coherence", "logic"),
        ("details", ""),
        ("no", ""),
        ("tone_of_voice", ""),
    ],
)
def test_a_key_is_known_by_its_words(text, published):
    assert find_criterion(text).published == published
    assert bool(find_criterion(text).definition) == bool(published)


def test_a_criterion_keeps_the_file_s_own_key():
    assert find_criterion("Visual Grounding").key == "visual_grounding"
    assert find_criterion("tone of-voice").name == "Tone of voice"
    assert find_criterion(" / ").key == ""


def test_two_keys_of_one_name_are_told_apart():
    assert names_of(["grounding", "visual_grounding", "logic"]) == {
        "grounding": "Visual grounding (grounding)",
        "visual_grounding": "Visual grounding (visual grounding)",
        "logic": "Logic and consistency",
    }


def test_known_criteria_come_in_the_published_order_then_others():
    assert in_order({"zeal", "efficiency", "completeness", "art"}) == [
        "completeness", "efficiency", "art", "zeal",
    ]  # fmt: skip
