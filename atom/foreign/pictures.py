"""What a picture file is, read with care: headers here, decoders only in a worker.

The readers of the usual formats' headers are Python and take microseconds. WebP and AVIF are opened
by native code, and every decoder is: those run in a worker. Formats beyond the usual ones aren't
tried: some of their readers start foreign programs.
"""

from __future__ import annotations

import io
import warnings
from typing import BinaryIO, Final, NamedTuple

from PIL import Image, ImageOps, UnidentifiedImageError

from atom.errors import PictureError
from atom.foreign.parsers import PICTURE, parse

_PLAIN: Final = ("PNG", "JPEG", "MPO", "GIF", "BMP", "TIFF")
"""Formats whose headers are read by Python code alone."""
READABLE: Final = (*_PLAIN, "WEBP", "AVIF")
"""Formats that are read at all."""


class PictureHeader(NamedTuple):
    """What a picture's header says: kind, and width and height in pixels."""

    media_type: str
    width: int
    height: int


def read_header(data: bytes, name: str = "picture") -> PictureHeader:
    """Read a picture's kind and size.

    Raises:
        PictureError: it isn't a picture that can be read.
    """
    if data[8:12] in (b"WEBP", b"avif", b"avis", b"mif1", b"msf1"):
        found = parse(header_of, data, name=name, limits=PICTURE, error=PictureError)
        return PictureHeader(*found)
    return _facts(io.BytesIO(data), _PLAIN)


def draw_thumbnail(data: bytes, size: tuple[int, int], name: str = "picture") -> bytes:
    """Draw a small WebP of a picture, upright, on white.

    Args:
        data: the file.
        size: its largest width and height, in pixels.
        name: what messages call it.

    Raises:
        PictureError: it is broken, or takes too much memory or time.
    """
    made: bytes = parse(thumbnail_of, data, *size, name=name, limits=PICTURE, error=PictureError)
    return made


# --- in the worker -------------------------------------------------------------------------------


def header_of(stream: BinaryIO) -> tuple[str, int, int]:
    """Read a picture's header with every reader that is allowed."""
    kind, width, height = _facts(stream, READABLE)
    return kind, width, height


def thumbnail_of(stream: BinaryIO, width: int, height: int) -> bytes:
    """Draw a small picture of one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            opened = Image.open(stream, formats=_at_hand(READABLE))
            opened.draft("RGB", (width * 2, height * 2))
            image: Image.Image = ImageOps.exif_transpose(opened)
            if image.mode.startswith("I;16") or image.mode in ("I", "F"):
                image = image.convert("F").point(lambda value: value / 257.0).convert("L")
            rgba = image.convert("RGBA")
            rgba.thumbnail((width, height), Image.Resampling.LANCZOS)
            flat = Image.new("RGB", rgba.size, "white")
            flat.paste(rgba, mask=rgba.getchannel("A"))
            out = io.BytesIO()
            flat.save(out, "WEBP", quality=72, method=4)
    except MemoryError:
        raise
    except Exception as error:
        raise PictureError(f"the picture is broken ({error}); attach a whole one") from error
    return out.getvalue()


def _facts(stream: BinaryIO, formats: tuple[str, ...]) -> PictureHeader:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(stream, formats=_at_hand(formats))
            width, height = image.size
            kind = Image.MIME.get(image.format or "", "application/octet-stream")
            return PictureHeader(kind, width, height)
    except MemoryError:
        raise
    except UnidentifiedImageError as error:
        raise PictureError(
            "it can't be read as a picture; PNG, JPEG, WebP, GIF, BMP, TIFF and AVIF are taken"
        ) from error
    except Exception as error:
        raise PictureError(f"it can't be read as a picture ({error})") from error


def _at_hand(formats: tuple[str, ...]) -> tuple[str, ...]:
    Image.init()
    return tuple(name for name in formats if name in Image.OPEN)
