"""Pictures in a folder and in an object store: the same, whoever asks.

The object store is moto's, a server of its own that speaks S3's language.
"""

import importlib.util
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from atom.cli.main import main
from atom.errors import PictureError, SettingsError, StoreError
from atom.records import Picture
from atom.store import Store, check_store
from atom.store.moving.copying import copy_store
from atom.store.pictures import PictureFiles
from atom.store.together.blobs import FolderBlobs, ObjectBlobs, blobs_of
from tests.atom.conftest import until
from tests.factories import open_small, picture, picture_file

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true"}  # fmt: skip


@pytest.fixture(scope="module")
def bucket():
    """The address of an empty bucket."""
    if importlib.util.find_spec("moto") is None:
        pytest.skip("moto isn't installed: pip install -r requirements-dev.txt")
    from pyarrow.fs import S3FileSystem

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in KEYS.items():
                patch.setenv(name, value)
            until(lambda: _listens(port), 60)
            there = f"127.0.0.1:{port}"
            S3FileSystem(
                endpoint_override=there, scheme="http", region="us-east-1",
                allow_bucket_creation=True,
            ).create_dir("atom")  # fmt: skip
            yield f"s3://atom/team?endpoint_override={there}&scheme=http&region=us-east-1"
    finally:
        server.kill()
        server.wait()


def _listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(params=["folder", "objects"])
def blobs(request, tmp_path):
    """Both kinds."""
    if request.param == "folder":
        return FolderBlobs(tmp_path)
    return ObjectBlobs(request.getfixturevalue("bucket"))


@pytest.mark.slow
def test_a_picture_is_kept_read_and_forgotten(blobs):
    files = PictureFiles(blobs)
    data = picture(3)
    kept = files.add(data)
    assert files.add(data) == kept
    assert files.has(kept.id)
    assert files.read(kept.id) == data
    thumb = files.thumbnail(kept.id)
    assert thumb[8:12] == b"WEBP"
    blobs.forget(f"thumbs/{kept.id[:2]}/{kept.id}.webp")
    assert files.thumbnail(kept.id) == thumb
    files.forget(kept.id)
    files.forget(kept.id)
    assert not files.has(kept.id)
    with pytest.raises(PictureError, match="is missing"):
        files.read(kept.id)


@pytest.mark.slow
def test_a_store_on_a_server_keeps_its_pictures_in_a_bucket(
    bucket, pg_empty, tmp_path, monkeypatch
):
    monkeypatch.setenv("ATOM_PICTURES", bucket)
    monkeypatch.setenv("ATOM_FILES", str(tmp_path / "files"))
    with (
        open_small(tmp_path / "small") as small,
        Store.open(pg_empty) as store,
        Store.open(tmp_path / "back") as back,
    ):
        copy_store(small, store)
        assert not (tmp_path / "files" / "pictures").exists()
        ids = [one.id for one in store.select(Picture)]
        assert ids
        assert all(store.pictures.read(one) == small.pictures.read(one) for one in ids)
        assert check_store(store).problems == ()
        # And back: a backup that opens anywhere.
        copy_store(store, back)
        assert all(picture_file(back, one).exists() for one in ids)


@pytest.mark.slow
def test_a_bucket_is_made_once_with_the_migration(bucket, pg_empty, monkeypatch, capsys):
    fresh = bucket.replace("s3://atom/", "s3://fresh-bucket/")
    monkeypatch.setenv("ATOM_PICTURES", fresh)
    with pytest.raises(StoreError, match="is the bucket there"):
        ObjectBlobs(fresh).write("pictures/ab/ab", b"x")
    for told in ("was made", "is there"):
        assert main(["store", "migrate", "--pictures", "--store", pg_empty]) == 0
        assert f"the bucket for pictures {told}" in capsys.readouterr().out
    ObjectBlobs(fresh).write("pictures/ab/ab", b"x")
    assert ObjectBlobs(fresh).read("pictures/ab/ab") == b"x"
    with pytest.raises(SettingsError, match="make its bucket at your provider"):
        ObjectBlobs("gs://anonymous@fresh/x").make_bucket()


@pytest.mark.slow
def test_a_bucket_that_cannot_be_reached_says_what_to_look_at(monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    gone = "s3://k:geheim@atom/x?endpoint_override=127.0.0.1:9&scheme=http&region=us-east-1"
    with pytest.raises(StoreError, match="can't be reached") as caught:
        ObjectBlobs(gone).read("pictures/ab/ab")
    assert "geheim" not in str(caught.value)
    with pytest.raises(SettingsError, match="neither s3:// nor gs://"):
        blobs_of(Path(), "ftp://host/x")


@pytest.mark.slow
def test_no_more_is_read_of_an_object_than_a_picture_has(bucket, monkeypatch):
    objects = ObjectBlobs(bucket)
    objects.write("pictures/ab/abcd", b"x" * 2000)
    monkeypatch.setattr("atom.store.together.blobs.MOST_BYTES", 1999)
    with pytest.raises(StoreError, match=r"'pictures/ab/abcd' in .* is larger than any picture"):
        objects.read("pictures/ab/abcd")
