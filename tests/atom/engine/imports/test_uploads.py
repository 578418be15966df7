"""Pictures that a reader brings."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from atom.engine.imports.uploads import look_at
from atom.errors import PictureError
from atom.records import Picture, Sample
from atom.store import list_studies, study_places


def drawn(form: str, size: tuple[int, int] = (40, 30)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, "teal").save(out, form)
    return out.getvalue()


@pytest.mark.parametrize(
    ("form", "kind"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp"), ("GIF", "image/gif")],
)
def test_usual_pictures_are_taken(form, kind):
    found = look_at("a", drawn(form))
    assert (found.media_type, found.width, found.height) == (kind, 40, 30)
    assert found.probe_question == ""


def test_a_probe_brings_its_question(store):
    study = list_studies(store)[0]
    sample = store.get(Sample, study_places(store, study.id)[0].sample_id)
    data = store.pictures.read(sample.pictures[0].picture_id)
    assert store.get(Picture, sample.pictures[0].picture_id) is not None
    assert look_at("probe.png", data).probe_question == sample.question


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "is empty"), (b"GIF89a nonsense", "can't be used"), (drawn("BMP"), "image/bmp")],
)
def test_others_are_refused_in_words(data, words):
    with pytest.raises(PictureError, match=words):
        look_at("x.png", data)
