"""Pictures that a reader brings: looked at before they are shown or sent."""

from __future__ import annotations

from dataclasses import dataclass

from atom.errors import PictureError
from atom.judge.pictures.prepare import inspect_picture
from atom.probes.chunk import read_program

ALLOWED = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WebP", "image/gif": "GIF"}
MOST_BYTES = 25_000_000


@dataclass(frozen=True, kw_only=True)
class PictureUpload:
    """A picture that can be used.

    Args:
        media_type: for example `image/png`.
        width: in pixels, upright.
        height: in pixels, upright.
        probe_question: the question of the probe that it is; empty when it is none.
        probe_choices: that question's options.
    """

    media_type: str
    width: int
    height: int
    probe_question: str = ""
    probe_choices: tuple[str, ...] = ()


def look_at(name: str, data: bytes) -> PictureUpload:
    """Check that a file is a picture that can be asked about.

    Raises:
        PictureError: it isn't; the message names the file and says what can be used.
    """
    wanted = "use a PNG, JPEG, WebP or GIF picture"
    if not data:
        raise PictureError(f"{name!r} is empty: {wanted}")
    if len(data) > MOST_BYTES:
        raise PictureError(
            f"{name!r} has {len(data) / 1e6:.0f} MB; at most {MOST_BYTES / 1e6:.0f} MB are taken: "
            "make it smaller"
        )
    try:
        facts = inspect_picture(data)
    except PictureError as error:
        raise PictureError(f"{name!r} can't be used: {error.message}") from error
    if facts.media_type not in ALLOWED:
        raise PictureError(f"{name!r} is a {facts.media_type} file: {wanted}")
    program = read_program(data)
    return PictureUpload(
        media_type=facts.media_type,
        width=facts.width,
        height=facts.height,
        probe_question=program.question if program else "",
        probe_choices=tuple(program.choices) if program else (),
    )
