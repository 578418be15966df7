import pytest

from atom.records import scale_of


@pytest.mark.parametrize(
    ("prompt", "scale"),
    [
        ("scoring/1", "firmness"),
        ("scoring/2", "appendix_d"),
        ("scoring/12", "appendix_d"),
        ("scoring/2 blind", "appendix_d"),
        ("whole/1", "firmness"),
        ("whole/2", "appendix_d"),
        ("scan_scoring/1", "firmness"),
        ("scan_scoring/2", "appendix_d"),
        ("imported", "other"),
        ("typed", "other"),
        ("pointwise/1", "other"),
        ("", "other"),
    ],
)
def test_a_prompt_names_its_scale(prompt, scale):
    assert scale_of(prompt) == scale
