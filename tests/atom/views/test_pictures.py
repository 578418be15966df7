import io

import pytest
from PIL import Image

from atom.store import Store
from atom.views.pictures import read_picture, read_thumbnail
from tests.factories import picture, picture_file


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path) as opened:
        yield opened


def test_a_picture_is_read_as_it_came(store):
    kept = store.add_picture(picture(1))
    found = read_picture(store, kept.id)
    assert found is not None
    assert found.data == picture(1)
    assert found.media_type == "image/png"


def test_a_type_that_browsers_dont_draw_is_shown_as_its_thumbnail(store):
    out = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(out, "TIFF")
    kept = store.add_picture(out.getvalue())
    found = read_picture(store, kept.id)
    assert found is not None
    assert found.media_type == "image/webp"


def test_what_is_gone_is_none(store):
    kept = store.add_picture(picture(2))
    picture_file(store, kept.id).unlink()
    assert read_picture(store, kept.id) is None
    assert read_thumbnail(store, kept.id) is not None
    assert read_thumbnail(store, "0" * 64) is None
