"""Makes any picture fit for an endpoint: PNG or JPEG, upright, on white, small enough, clean.

A picture that already fits is passed on without being encoded again: only its text chunks and
EXIF data are cut out. The probe endpoint is the exception, see `prepare`.
"""

from __future__ import annotations

import base64
import io
import math
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from atom.errors import PictureError
from atom.judge.pictures.metadata import without_metadata
from atom.records import PictureLimit

if TYPE_CHECKING:
    from atom.probes.program import Program

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_PIXELS = 64_000_000
"""Larger pictures are refused before they are decoded: they may be built to fill the memory."""
READABLE = ("PNG", "JPEG", "MPO", "WEBP", "GIF", "BMP", "TIFF", "AVIF")
"""Only these decoders are tried; others (EPS, PDF) would run foreign programs."""

MOST_ASPECT = 100
"""Long side by short side of a picture at an endpoint that has a shortest side; several vision
models fail above 200."""

Box = tuple[int, int, int, int]
"""Left, top, right, bottom, in pixels."""
MediaType = Literal["image/png", "image/jpeg"]

_BROKEN = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    NotImplementedError,
    MemoryError,
    struct.error,
    zlib.error,
)
"""What Pillow's decoders raise on damaged files, depending on the format."""
_BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)
_JPEG_QUALITIES = (92, 85, 75)
_SMALLEST_SIDE = 32
_FORMATS = "PNG, JPEG, WebP, GIF, BMP, TIFF or AVIF"


@dataclass(frozen=True, kw_only=True, slots=True)
class PictureFacts:
    """What a picture file is, as imports need it.

    Args:
        media_type: of the file as it is, `image/webp`.
        width: in pixels, after its EXIF rotation.
        height: in pixels, after its EXIF rotation.
        n_frames: frames of an animation; only the first is ever judged.
    """

    media_type: str
    width: int
    height: int
    n_frames: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedPicture:
    """A picture ready to be sent.

    Args:
        data: the file to send.
        media_type: `image/png` or `image/jpeg`.
        width: in pixels, as sent.
        height: in pixels, as sent.
        source_width: in pixels, as given (after its EXIF rotation).
        source_height: in pixels, as given (after its EXIF rotation).
        content: left, top, right, bottom of the original in it, in pixels; all of it unless it
            was padded.
        notes: what was changed, in words.
    """

    data: bytes
    media_type: MediaType
    width: int
    height: int
    source_width: int
    source_height: int
    content: Box
    notes: tuple[str, ...] = ()

    def literal(self) -> bytes:
        """Return the data URL as a JSON string literal, quotes included."""
        head = f'"data:{self.media_type};base64,'.encode()
        return b"".join((head, base64.b64encode(self.data), b'"'))


def inspect_picture(data: bytes) -> PictureFacts:
    """Read a picture's kind and size, and check that all of its first frame can be decoded.

    Raises:
        PictureError: it isn't a picture, is damaged or is too large.
    """
    image = _open(data)
    kind = image.format or ""
    frames = _count_frames(image)
    upright = _rotate(_load(image))
    media_type = Image.MIME.get("JPEG" if kind == "MPO" else kind, "application/octet-stream")
    return PictureFacts(
        media_type=media_type, width=upright.width, height=upright.height, n_frames=frames
    )


def prepare(data: bytes, limit: PictureLimit, *, keep_program: bool = False) -> PreparedPicture:
    """Make a picture fit for an endpoint.

    Args:
        data: the original file.
        limit: the endpoint's largest side and encoded size.
        keep_program: keep the probe program in its PNG text chunk, through a resize too: only
            for the probe endpoint. Every other endpoint gets no text chunk and no EXIF.

    Returns:
        A PNG, or a JPEG where the source was one or a PNG would be too large.

    Raises:
        PictureError: it isn't a picture, is damaged, or can't be made small enough.
    """
    source = _open(data)
    kind = source.format or ""
    notes: list[str] = []
    frames = _count_frames(source)
    if frames > 1 and kind != "MPO":
        notes.append(f"animated, {frames} frames: only the first is sent")
    loaded = _load(source)
    upright = _rotate(loaded)
    if upright is not loaded:
        notes.append("turned upright as its EXIF data says")
    flat = _flatten(upright, notes)
    size = flat.size
    program = _program_of(data) if keep_program else None
    fits = max(size) <= limit.max_side
    if fits and flat is loaded and min(size) >= _shortest(size, limit):
        clean = without_metadata(data, kind)
        if clean is not None:
            clean = _with_program(clean, program)
            if len(clean) <= limit.max_bytes:
                return _prepared(clean, kind, size, size, notes)
    if not fits:
        flat = _scale(flat, limit.max_side / max(size))
    padded, content = _pad(flat, _shortest(flat.size, limit))
    lossy = kind in {"JPEG", "MPO", "AVIF"} or (kind == "WEBP" and data[12:16] == b"VP8 ")
    encoded, chosen, sent = _encode(padded, limit, lossy=lossy, program=program)
    shrunk = sent[0] / padded.width
    left, top, right, bottom = (round(side * shrunk) for side in content)
    content = (left, top, right, bottom)
    shown = (content[2] - content[0], content[3] - content[1])
    if shown != size:
        notes.append(f"scaled from {size[0]}x{size[1]} to {shown[0]}x{shown[1]} pixels")
    if padded is not flat:
        notes.append(f"padded with white to {sent[0]}x{sent[1]} pixels, as the server needs")
    if chosen != ("JPEG" if kind == "MPO" else kind):
        notes.append(f"sent as {chosen} (was {kind})")
    return _prepared(encoded, chosen, sent, size, notes, content)


def _prepared(
    data: bytes,
    kind: str,
    size: tuple[int, int],
    source: tuple[int, int],
    notes: list[str],
    content: Box | None = None,
) -> PreparedPicture:
    return PreparedPicture(
        data=data,
        media_type="image/png" if kind == "PNG" else "image/jpeg",
        width=size[0],
        height=size[1],
        source_width=source[0],
        source_height=source[1],
        content=content or (0, 0, *size),
        notes=tuple(notes),
    )


def _open(data: bytes) -> Image.Image:
    if not data:
        raise PictureError(f"The picture file is empty. Give a {_FORMATS} file.")
    if len(data) > MAX_FILE_BYTES:
        raise PictureError(
            f"The picture file has {len(data):,} bytes; at most {MAX_FILE_BYTES:,} are read. "
            "Save it smaller."
        )
    try:
        image = Image.open(io.BytesIO(data), formats=_readable())
    except _BOMB:
        raise _too_many_pixels("very many") from None
    except UnidentifiedImageError:
        raise PictureError(
            f"The file isn't a picture that can be read: it begins with {data[:12]!r}. "
            f"Give a {_FORMATS} file."
        ) from None
    except _BROKEN as error:
        raise _damaged(error) from None
    if image.width * image.height > MAX_PIXELS:
        raise _too_many_pixels(f"{image.width}x{image.height} =")
    return image


def _readable() -> tuple[str, ...]:
    Image.init()
    return tuple(name for name in READABLE if name in Image.OPEN)


def _too_many_pixels(given: str) -> PictureError:
    return PictureError(
        f"The picture has {given} pixels; at most {MAX_PIXELS:,} are decoded. Scale it down first."
    )


def _damaged(error: BaseException) -> PictureError:
    return PictureError(
        f"The picture file is damaged or cut short ({type(error).__name__}: {error}). "
        "Export or download it again."
    )


def _load(image: Image.Image) -> Image.Image:
    try:
        image.load()
    except _BOMB:
        raise _too_many_pixels("very many") from None
    except _BROKEN as error:
        raise _damaged(error) from None
    return image


def _count_frames(image: Image.Image) -> int:
    try:
        return int(getattr(image, "n_frames", 1))
    except _BROKEN:
        return 1  # A broken later frame doesn't matter: only the first is used.


def _rotate(image: Image.Image) -> Image.Image:
    try:
        if image.getexif().get(0x0112, 1) in {None, 1}:
            return image
        return ImageOps.exif_transpose(image)
    except _BROKEN:
        return image  # Unreadable EXIF data says nothing about rotation.


def _flatten(image: Image.Image, notes: list[str]) -> Image.Image:
    """Return an 8-bit grey or colour picture without transparency, or the same object."""
    if image.mode in {"L", "RGB", "P", "1"} and "transparency" not in image.info:
        return _to_srgb(image, notes)
    if image.mode.startswith("I") or image.mode == "F":
        notes.append(f"{image.mode} pixels brought to 8 bits")
        return _to_eight_bits(image)
    if image.has_transparency_data:
        notes.append("transparent parts laid on white")
        rgba = image.convert("RGBA")
        ground = Image.new("RGBA", rgba.size, "white")
        ground.alpha_composite(rgba)
        return ground.convert("RGB")
    if image.mode == "CMYK":
        converted = _to_srgb(image, notes)
        if converted is image:
            notes.append("CMYK brought to RGB")
        return converted.convert("RGB")
    notes.append(f"{image.mode} brought to RGB")
    return image.convert("RGB")


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """Scale 16-bit grey by 257; wider or real values by their own range."""
    wide = image.convert("F")
    low, high = (float(value) for value in wide.getextrema())  # type: ignore[arg-type]
    if not (math.isfinite(low) and math.isfinite(high)):
        raise PictureError("The picture holds values that aren't finite. Export it as 8-bit PNG.")
    if image.mode != "F" and low >= 0 and high <= 65535:
        low, high = 0.0, 65535.0
    factor = 255.0 / (high - low) if high > low else 0.0
    return wide.point(lambda value: value * factor - low * factor).convert("L")


def _to_srgb(image: Image.Image, notes: list[str]) -> Image.Image:
    """Convert by the colour profile in the file, unless it is sRGB or unusable."""
    profile = image.info.get("icc_profile")
    if not isinstance(profile, bytes) or image.mode not in {"RGB", "CMYK"}:
        return image
    try:
        given = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        name = ImageCms.getProfileDescription(given).strip()
        if "srgb" in name.lower():
            return image
        converted = ImageCms.profileToProfile(
            image, given, ImageCms.createProfile("sRGB"), outputMode="RGB"
        )
    except (ImageCms.PyCMSError, *_BROKEN):
        return image
    notes.append(f"colours brought from {name or 'the profile in the file'} to sRGB")
    return image if converted is None else converted


def _scale(image: Image.Image, factor: float) -> Image.Image:
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    smooth = image if image.mode in {"L", "RGB"} else image.convert("RGB")
    return smooth.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def _shortest(size: tuple[int, int], limit: PictureLimit) -> int:
    """Return the shortest side that a picture of this size may have, in pixels."""
    if limit.min_side <= 1:
        return 1
    return max(limit.min_side, math.ceil(max(size) / MOST_ASPECT))


def _pad(image: Image.Image, shortest: int) -> tuple[Image.Image, Box]:
    """Lay a thin picture in the middle of a white one; return it and where the picture lies."""
    width, height = max(image.width, shortest), max(image.height, shortest)
    left, top = (width - image.width) // 2, (height - image.height) // 2
    box = (left, top, left + image.width, top + image.height)
    if (width, height) == image.size:
        return image, box
    ground = Image.new("RGB", (width, height), "white")
    ground.paste(image.convert("RGB"), (left, top))
    return ground, box


def _encode(
    image: Image.Image, limit: PictureLimit, *, lossy: bool, program: Program | None
) -> tuple[bytes, str, tuple[int, int]]:
    """Encode within the byte limit, at less quality first, then smaller."""
    current = image
    while True:
        if not lossy or program is not None:
            data = _with_program(_png(current), program)
            if len(data) <= limit.max_bytes:
                return data, "PNG", current.size
        if program is None:
            for quality in _JPEG_QUALITIES:
                data = _jpeg(current, quality)
                if len(data) <= limit.max_bytes:
                    return data, "JPEG", current.size
        if max(current.size) * 0.8 < _SMALLEST_SIDE:
            raise PictureError(
                f"The picture can't be made to fit {limit.max_bytes:,} bytes: "
                f"{len(data):,} are left at {current.width}x{current.height} pixels. "
                "Raise the endpoint's max_bytes."
            )
        current = _scale(image, 0.8 * max(current.size) / max(image.size))


def _png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    bare = image.copy()
    bare.info = {}
    bare.save(out, "PNG")
    return out.getvalue()


def _jpeg(image: Image.Image, quality: int) -> bytes:
    out = io.BytesIO()
    bare = (image if image.mode in {"L", "RGB"} else image.convert("RGB")).copy()
    bare.info = {}
    bare.save(out, "JPEG", quality=quality, subsampling=0, exif=b"")
    return out.getvalue()


def _program_of(data: bytes) -> Program | None:
    from atom.probes.chunk import read_program

    return read_program(data)


def _with_program(png: bytes, program: Program | None) -> bytes:
    if program is None:
        return png
    from atom.probes.chunk import write_program

    return write_program(png, program)
