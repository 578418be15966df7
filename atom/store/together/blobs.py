"""Where a store's pictures lie: in a folder, or in an object store that speaks S3's language.

Whoever reads finds a whole file or none: a folder's get their names when they are whole, and an
object store shows an object when all of it has come.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from atom.errors import SettingsError, StoreError
from atom.files import write_file
from atom.settings import without_password

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_SCHEMES = ("s3", "gs")
MOST_BYTES = 50_000_000
"""Bytes of a picture; others may write into a bucket, and no more than this is read of it."""


class Blobs(Protocol):
    """Files by name, such as `pictures/ab/abcd`."""

    def size(self, name: str) -> int | None:
        """Return how many bytes a file has; None where it isn't there."""

    def read(self, name: str) -> bytes | None:
        """Return a file; None where it isn't there."""

    def write(self, name: str, data: bytes) -> None:
        """Keep a file, whole or not at all; one that is there goes."""

    def forget(self, name: str) -> None:
        """Delete a file, where it is there."""


class FolderBlobs:
    """Files in a folder.

    Args:
        folder: where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def size(self, name: str) -> int | None:
        """Return how many bytes a file has; None where it isn't there."""
        try:
            return (self._folder / name).stat().st_size
        except FileNotFoundError:
            return None

    def read(self, name: str) -> bytes | None:
        """Return a file; None where it isn't there."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Keep a file, whole or not at all; one that is there goes."""
        path = self._folder / name
        write_file(path, data, sync=False, within=path.parent.parent)

    def forget(self, name: str) -> None:
        """Delete a file, where it is there."""
        (self._folder / name).unlink(missing_ok=True)


class ObjectBlobs:
    """Files in an object store; keys are read from the usual variables (`AWS_ACCESS_KEY_ID`, ...).

    Args:
        address: `s3://bucket/prefix`, with `?endpoint_override=host:9000&scheme=http` for a server
            of one's own; `gs://bucket/prefix`.

    Raises:
        SettingsError: it is no such address.
    """

    def __init__(self, address: str) -> None:
        self._address, self._shown = address, without_password(address).partition("?")[0]
        try:
            from pyarrow import ArrowException
            from pyarrow.fs import FileSystem

            if urlsplit(address).scheme not in _SCHEMES:
                raise ValueError("it begins with neither s3:// nor gs://")
            self._files: FileSystem
            self._files, self._root = FileSystem.from_uri(address)
        except (ValueError, OSError, ArrowException) as error:
            raise SettingsError(
                f"ATOM_PICTURES is {self._shown!r} ({error}): set it to a bucket such as "
                "s3://bucket/prefix, or leave it out to keep pictures in ATOM_FILES"
            ) from error

    def make_bucket(self) -> bool:
        """Make the bucket where there is none; returns whether there was none.

        Raises:
            SettingsError: it is a bucket of a kind that can't be made from here.
            StoreError: it can't be made, or the server isn't there.
        """
        from pyarrow.fs import FileSystem, FileType

        if not self._address.startswith("s3:"):
            raise SettingsError(f"{self._shown!r} isn't of s3://: make its bucket at your provider")
        bucket = self._root.partition("/")[0]
        try:
            if self._files.get_file_info(bucket).type != FileType.NotFound:
                return False
            query = "&" if "?" in self._address else "?"
            maker, _ = FileSystem.from_uri(f"{self._address}{query}allow_bucket_creation=true")
            maker.create_dir(bucket)
        except OSError as error:
            raise self._away(error) from error
        return True

    def size(self, name: str) -> int | None:
        """Return how many bytes an object has; None where it isn't there."""
        from pyarrow.fs import FileType

        try:
            found = self._files.get_file_info(self._path(name))
        except OSError as error:
            raise self._away(error) from error
        return int(found.size) if found.type == FileType.File else None

    def read(self, name: str) -> bytes | None:
        """Return an object; None where it isn't there."""
        try:
            with self._files.open_input_file(self._path(name)) as file:
                found = bytes(file.read(MOST_BYTES + 1))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._away(error) from error

        if len(found) > MOST_BYTES:
            raise StoreError(
                f"{name!r} in {self._shown!r} is larger than any picture "
                f"({MOST_BYTES / 1e6:.0f} MB): somebody else put it there"
            )
        return found

    def write(self, name: str, data: bytes) -> None:
        """Keep an object, whole or not at all; one that is there goes."""
        try:
            with self._files.open_output_stream(self._path(name)) as file:
                file.write(data)
        except OSError as error:
            raise self._away(error) from error

    def forget(self, name: str) -> None:
        """Delete an object, where it is there."""
        if self.size(name) is None:
            return
        try:
            self._files.delete_file(self._path(name))
        except OSError as error:
            raise self._away(error) from error

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _away(self, error: OSError) -> StoreError:
        return StoreError(
            f"the pictures in {self._shown!r} can't be reached ({str(error)[:300]}): is the server "
            "up, is the bucket there, and are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY set?"
        )


def blobs_of(folder: Path, address: str = "") -> Blobs:
    """Return where pictures lie.

    Args:
        folder: the store's own, which holds them where no address is given.
        address: of an object store.

    Raises:
        SettingsError: it is no such address.
    """
    return ObjectBlobs(address) if address else FolderBlobs(folder)
