import pytest
from pydantic import ValidationError

from atom.errors import SettingsError
from atom.probes.serving.config import ProbeConfig, load_config


def test_a_file_overrides_defaults(tmp_path):
    path = tmp_path / "probe.yaml"
    path.write_text("latency: 0.2\nfaults:\n  rates: {reset: 0.1}\n  tries: 2\n")
    config = load_config(path)
    assert config.latency == 0.2
    assert config.faults.rates == {"reset": 0.1}
    assert config.world_seed == ProbeConfig().world_seed


def test_an_empty_file_is_the_default(tmp_path):
    path = tmp_path / "probe.yaml"
    path.write_text("")
    assert load_config(path) == ProbeConfig()


@pytest.mark.parametrize(
    "text", ["latency: -1", "lantency: 1", "faults: {rates: {flood: 0.1}}", "[1", "- 1", "\xff\0"]
)
def test_a_wrong_file_is_refused(tmp_path, text):
    path = tmp_path / "probe.yaml"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(SettingsError, match=r"probe\.yaml"):
        load_config(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(SettingsError):
        load_config(tmp_path / "none.yaml")


def test_rates_total_at_most_one():
    with pytest.raises(ValidationError, match="total"):
        ProbeConfig.model_validate({"faults": {"rates": {"reset": 0.6, "stall": 0.6}}})
