"""Pictures of every kind on their way to an endpoint; all files are made here."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import struct
import threading
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, PngImagePlugin

from atom.errors import PictureError
from atom.judge import PictureCache, PicturePart
from atom.judge.pictures import prepare as module
from atom.judge.pictures.prepare import MOST_ASPECT, inspect_picture, prepare
from atom.probes.chunk import read_program, write_program
from atom.probes.program import Program
from atom.records import PictureLimit

LIMIT = PictureLimit()
SECRET = b"taken at home"


def encode(image, form="PNG", **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def halves(size=(60, 40), left=(200, 30, 30), right=(30, 30, 200)):
    image = Image.new("RGB", size, left)
    image.paste(right, (size[0] // 2, 0, *size))
    return image


def noise(size, seed=1):
    values = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(values)


def opened(data):
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def near(pixel, wanted, tolerance=12):
    return all(abs(a - b) <= tolerance for a, b in zip(pixel, wanted, strict=True))


def chunk_names(png):
    at, names = 8, []
    while at < len(png):
        length, name = struct.unpack_from(">I4s", png, at)
        names.append(name)
        at += 12 + length
    return names


# What fits is passed on.


def test_a_png_that_fits_keeps_its_pixels_and_loses_its_texts():
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", SECRET.decode())
    info.add_itxt("atomscope.probe", "{}", zip=True)
    data = encode(halves(), pnginfo=info, exif=exif(1), icc_profile=srgb()) + b"tail" + SECRET
    made = prepare(data, LIMIT)
    assert (made.media_type, made.notes) == ("image/png", ())
    assert set(chunk_names(made.data)) <= {b"IHDR", b"IDAT", b"IEND", b"sRGB", b"gAMA"}
    assert SECRET not in made.data
    assert opened(made.data).tobytes() == halves().tobytes()


def test_a_jpeg_that_fits_is_not_encoded_again():
    data = encode(halves(), "JPEG", quality=80, exif=exif(1), comment=SECRET)
    made = prepare(data + b"tail", LIMIT)
    assert made.media_type == "image/jpeg"
    assert SECRET not in made.data
    assert b"Exif" not in made.data
    assert b"tail" not in made.data
    assert opened(made.data).tobytes() == opened(data).tobytes()
    assert len(made.data) < len(data)


@pytest.mark.parametrize("options", [{"progressive": True}, {"restart_marker_rows": 1}, {}])
def test_jpegs_with_many_scans_or_restarts_survive(options):
    data = encode(noise((64, 64)), "JPEG", quality=90, **options)
    made = prepare(data, LIMIT)
    assert opened(made.data).tobytes() == opened(data).tobytes()


@pytest.mark.parametrize("mode", ["L", "P", "1"])
def test_grey_palette_and_black_and_white_pngs_pass(mode):
    data = encode(halves().convert(mode))
    made = prepare(data, LIMIT)
    assert made.notes == ()
    assert opened(made.data).convert("RGB").tobytes() == opened(data).convert("RGB").tobytes()


def srgb():
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def exif(orientation):
    made = Image.Exif()
    made[0x0112] = orientation
    made[0x010E] = SECRET.decode()
    return made


# What doesn't fit is changed, and said.


@pytest.mark.parametrize(
    ("form", "options", "media_type"),
    [
        ("WEBP", {"lossless": True}, "image/png"),
        ("WEBP", {"quality": 90}, "image/jpeg"),
        ("GIF", {}, "image/png"),
        ("BMP", {}, "image/png"),
        ("TIFF", {}, "image/png"),
    ],
)
def test_other_formats_become_png_or_jpeg(form, options, media_type):
    made = prepare(encode(halves(), form, **options), LIMIT)
    assert made.media_type == media_type
    assert any(f"was {form}" in note for note in made.notes)
    image = opened(made.data).convert("RGB")
    assert image.size == (60, 40)
    assert near(image.getpixel((5, 5)), (200, 30, 30))
    assert near(image.getpixel((55, 5)), (30, 30, 200))


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_is_sent(form):
    frames = [halves(left=(200, 30, 30)), halves(left=(0, 255, 0)), halves(left=(9, 9, 9))]
    data = encode(frames[0], form, save_all=True, append_images=frames[1:])
    made = prepare(data, LIMIT)
    assert "animated, 3 frames: only the first is sent" in made.notes
    image = opened(made.data)
    assert getattr(image, "n_frames", 1) == 1
    assert near(image.convert("RGB").getpixel((5, 5)), (200, 30, 30))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_exif_rotation_is_carried_out(orientation, form):
    data = encode(
        halves((80, 40)),
        form,
        exif=exif(orientation),
        **({"quality": 95} if form == "JPEG" else {}),
    )
    made = prepare(data, LIMIT)
    turned = orientation >= 5
    assert (made.width, made.height) == ((40, 80) if turned else (80, 40))
    assert (made.source_width, made.source_height) == (made.width, made.height)
    image = opened(made.data).convert("RGB")
    red = {1: (5, 5), 2: (75, 5), 3: (75, 35), 4: (5, 35)} | {
        5: (5, 5),
        6: (35, 5),
        7: (35, 75),
        8: (5, 75),
    }
    assert near(image.getpixel(red[orientation]), (200, 30, 30))
    assert image.getexif().get(0x0112, 1) == 1
    assert ("turned upright as its EXIF data says" in made.notes) is (orientation > 1)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "PA"])
def test_transparency_is_laid_on_white(mode):
    image = Image.new("RGBA", (20, 10), (0, 0, 0, 255))
    image.paste((255, 0, 0, 0), (10, 0, 20, 10))
    data = encode(image.convert(mode), "TIFF" if mode == "PA" else "PNG")
    made = prepare(data, LIMIT)
    result = opened(made.data).convert("RGB")
    assert near(result.getpixel((2, 2)), (0, 0, 0))
    assert near(result.getpixel((15, 2)), (255, 255, 255))
    assert any("laid on white" in note for note in made.notes)


def test_a_transparent_palette_colour_is_laid_on_white():
    image = Image.new("P", (20, 10), 0)
    image.putpalette([0, 0, 0, 250, 0, 0])
    image.paste(1, (10, 0, 20, 10))
    for form in ("PNG", "GIF"):
        made = prepare(encode(image, form, transparency=0), LIMIT)
        result = opened(made.data).convert("RGB")
        assert near(result.getpixel((2, 2)), (255, 255, 255))
        assert near(result.getpixel((15, 2)), (250, 0, 0))


def test_a_transparent_colour_of_a_true_colour_png_is_laid_on_white():
    data = encode(halves(), transparency=(200, 30, 30))
    result = opened(prepare(data, LIMIT).data).convert("RGB")
    assert result.getpixel((5, 5)) == (255, 255, 255)


def test_cmyk_becomes_rgb():
    made = prepare(encode(halves().convert("CMYK"), "JPEG", quality=95), LIMIT)
    image = opened(made.data)
    assert image.mode == "RGB"
    assert near(image.getpixel((5, 5)), (200, 30, 30), 20)
    assert any("CMYK" in note for note in made.notes)


def test_sixteen_bit_grey_becomes_eight_bit_by_scale_not_by_clipping():
    values = np.linspace(0, 65535, 256, dtype=np.uint16).reshape(16, 16)
    made = prepare(encode(Image.fromarray(values)), LIMIT)
    image = opened(made.data)
    assert image.mode == "L"
    result = np.asarray(image).ravel()
    assert (result[0], result[-1]) == (0, 255)
    assert abs(int(result[128]) - 128) <= 1


def test_sixteen_bit_colour_becomes_eight_bit():
    rows = b"".join(b"\0" + struct.pack(">6H", 65535, 0, 0, 0, 0, 65535) for _ in range(2))
    made = prepare(raw_png(2, 2, 16, 2, rows), LIMIT)
    image = opened(made.data)
    assert image.convert("RGB").getpixel((0, 0)) == (255, 0, 0)


def raw_png(width, height, depth, colour, rows):
    def chunk(name, data):
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        )
    )


def test_real_values_are_scaled_by_their_range():
    values = np.linspace(-1.5, 2.5, 100, dtype=np.float32).reshape(10, 10)
    result = np.asarray(opened(prepare(encode(Image.fromarray(values), "TIFF"), LIMIT).data))
    assert (result.min(), result.max()) == (0, 255)


def test_values_that_are_not_finite_are_refused():
    values = np.full((4, 4), np.nan, dtype=np.float32)
    with pytest.raises(PictureError):
        prepare(encode(Image.fromarray(values), "TIFF"), LIMIT)


def test_an_even_picture_of_real_values():
    values = np.full((4, 4), 3.0, dtype=np.float32)
    assert prepare(encode(Image.fromarray(values), "TIFF"), LIMIT).width == 4


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_a_large_side_is_scaled_down(form):
    made = prepare(encode(halves((300, 100)), form), PictureLimit(max_side=60))
    assert (made.width, made.height) == (60, 20)
    assert (made.source_width, made.source_height) == (300, 100)
    assert "scaled from 300x100 to 60x20 pixels" in made.notes
    assert opened(made.data).size == (60, 20)


def test_a_thin_picture_keeps_at_least_a_pixel():
    made = prepare(encode(halves((1000, 2))), PictureLimit(max_side=100))
    assert (made.width, made.height) == (100, 1)


def test_too_many_bytes_make_a_jpeg_then_a_smaller_one():
    data = encode(noise((400, 300)))
    made = prepare(data, PictureLimit(max_bytes=250_000))
    assert (made.media_type, made.width) == ("image/jpeg", 400)
    made = prepare(data, PictureLimit(max_bytes=20_000))
    assert len(made.data) <= 20_000
    assert made.width < 400
    assert any("scaled" in note for note in made.notes)


def test_what_cannot_be_made_small_enough_is_refused():
    with pytest.raises(PictureError, match="max_bytes"):
        prepare(
            encode(noise((400, 300))), PictureLimit.model_construct(max_side=2048, max_bytes=100)
        )


def test_a_wide_gamut_is_brought_to_srgb():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    data = encode(halves(), icc_profile=profile)  # A profile that doesn't fit is left aside.
    assert opened(prepare(data, LIMIT).data).tobytes() == halves().tobytes()
    data = encode(halves(), icc_profile=b"no profile at all")
    assert opened(prepare(data, LIMIT).data).tobytes() == halves().tobytes()


# What can't be used.


def damaged():
    png, jpeg = encode(noise((64, 64))), encode(noise((64, 64)), "JPEG")
    webp, gif = encode(noise((64, 64)), "WEBP"), encode(noise((64, 64)), "GIF")
    tiff = encode(noise((64, 64)), "TIFF")
    broken = bytearray(png)
    broken[200] ^= 0xFF
    return {
        "empty": b"",
        "text": b"hello, this is no picture",
        "html": b"<!doctype html><img src=x>",
        "svg": b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        "pdf": b"%PDF-1.7 and so on",
        "eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n",
        "cut PNG": png[: len(png) // 2],
        "cut JPEG": jpeg[: len(jpeg) // 2],
        "cut WebP": webp[: len(webp) // 2],
        "cut GIF": gif[: len(gif) // 2],
        "cut TIFF": tiff[: len(tiff) // 2],
        "PNG header only": png[:33],
        "JPEG header only": jpeg[:20],
        "broken PNG": bytes(broken),
        "no size": raw_png(0, 0, 8, 2, b""),
        "text bomb": text_bomb(),
    }


def text_bomb():
    info = PngImagePlugin.PngInfo()
    info.add_itxt("bomb", "x" * 3_000_000, zip=True)
    return encode(halves(), pnginfo=info)


@pytest.mark.parametrize("name", sorted(set(damaged()) - {"text bomb"}))
def test_damaged_and_foreign_files_are_refused_plainly(name):
    data = damaged()[name]
    for use in (inspect_picture, lambda given: prepare(given, LIMIT)):
        with pytest.raises(PictureError) as caught:
            use(data)
        assert len(str(caught.value)) < 400


def test_a_text_bomb_is_refused_or_dropped():
    try:
        made = prepare(text_bomb(), LIMIT)
    except PictureError:
        return
    assert len(made.data) < 10_000


def test_too_many_pixels_are_refused_before_they_are_decoded():
    rows = b"\0" * 10
    for side in (9_000, 20_000, 60_000):
        with pytest.raises(PictureError, match="pixels; at most"):
            prepare(raw_png(side, side, 8, 0, rows), LIMIT)


def test_too_large_a_file_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 10)
    with pytest.raises(PictureError, match="at most 10 are read"):
        prepare(encode(halves()), LIMIT)


def test_facts_for_imports():
    data = encode(halves((80, 40)), "JPEG", exif=exif(6))
    facts = inspect_picture(data)
    assert (facts.media_type, facts.width, facts.height) == ("image/jpeg", 40, 80)
    frames = [halves(left=(n, n, n)) for n in (1, 99, 200)]
    facts = inspect_picture(encode(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    assert (facts.media_type, facts.n_frames) == ("image/gif", 3)


# The probe program.


@pytest.fixture
def probe(probe_program):
    return write_program(encode(halves((600, 400))), probe_program)


@pytest.fixture
def probe_program():
    steps = [
        {
            "id": name,
            "question": "How much?",
            "truth": "21",
            "value": 21,
            "kind": "num",
            "weight": 5,
            "leaf": ["Perception", "Detail", "Marks", "Height"],
            "regions": [{"box": [0, 0, 100, 100]}],
            "phrases": ["It is {value}.", "I read {value}."],
        }
        for name in ("first", "second")
    ]
    fields = {
        "family": "charts",
        "template": "difference",
        "seed": 1,
        "index": 0,
        "question": "What?",
        "answer": "21",
        "answer_step": "second",
        "steps": steps,
        "size": [600, 400],
    }
    return Program.model_validate(fields)


@pytest.mark.parametrize("limit", [LIMIT, PictureLimit(max_side=100)])
def test_the_program_reaches_the_probe_endpoint_and_no_other(probe, probe_program, limit):
    assert read_program(probe) == probe_program
    kept = prepare(probe, limit, keep_program=True)
    assert kept.media_type == "image/png"
    assert max(kept.width, kept.height) <= limit.max_side
    assert read_program(kept.data) == probe_program
    other = prepare(probe, limit)
    assert read_program(other.data) is None
    assert b"atomscope" not in other.data


def test_to_keep_its_program_a_picture_shrinks_rather_than_become_a_jpeg(probe_program):
    data = write_program(encode(noise((300, 300))), probe_program)
    made = prepare(data, PictureLimit(max_bytes=60_000), keep_program=True)
    assert made.media_type == "image/png"
    assert len(made.data) <= 60_000
    assert read_program(made.data) == probe_program


def test_a_picture_without_a_program_is_treated_alike():
    assert prepare(encode(halves()), LIMIT, keep_program=True) == prepare(encode(halves()), LIMIT)


# The cache.


async def test_a_picture_is_prepared_once_even_when_many_ask():
    reads = []
    data = encode(halves())

    def load():
        reads.append(threading.current_thread())
        return data

    part = PicturePart(sha256="a", load=load)
    cache = PictureCache()
    entries = await asyncio.gather(*(cache.get(part, LIMIT) for _ in range(20)))
    assert len(reads) == 1
    assert reads[0] is not threading.main_thread()
    assert len({id(entry) for entry in entries}) == 1
    url = json.loads(entries[0].literal)
    assert base64.b64decode(url.removeprefix("data:image/png;base64,")) == prepare(data, LIMIT).data


async def test_other_limits_make_another_entry():
    part = PicturePart.from_bytes(encode(halves()))
    cache = PictureCache()
    whole = await cache.get(part, LIMIT)
    small = await cache.get(part, PictureLimit(max_side=20))
    assert (whole.width, small.width) == (60, 20)


async def test_the_cache_keeps_to_its_cap_and_drops_the_least_used():
    parts = [PicturePart.from_bytes(encode(noise((20, 20), seed))) for seed in range(4)]
    size = len((await PictureCache().get(parts[0], LIMIT)).literal)
    cache = PictureCache(max_bytes=int(size * 2.5))
    for part in (parts[0], parts[1], parts[0], parts[2]):
        await cache.get(part, LIMIT)
    assert cache.n_bytes <= size * 2.5
    assert {key[0] for key in cache._held} == {parts[0].sha256, parts[2].sha256}


async def test_a_picture_larger_than_the_cache_is_used_all_the_same():
    cache = PictureCache(max_bytes=10)
    part = PicturePart.from_bytes(encode(halves()))
    assert (await cache.get(part, LIMIT)).width == 60
    assert cache.n_bytes == 0


async def test_a_picture_that_cannot_be_read_is_told_to_all_and_not_remembered():
    fails = [True]

    def load():
        if fails[0]:
            raise FileNotFoundError(2, "No such file or directory")
        return encode(halves())

    part = PicturePart(sha256="abcdef0123456789", load=load)
    cache = PictureCache()
    results = await asyncio.gather(
        *(cache.get(part, LIMIT) for _ in range(3)), return_exceptions=True
    )
    assert [type(result) for result in results] == [PictureError] * 3
    assert "abcdef012345" in str(results[0])
    fails[0] = False
    assert (await cache.get(part, LIMIT)).width == 60


async def test_when_the_one_who_prepares_is_cancelled_another_takes_over():
    started, release = threading.Event(), threading.Event()

    def load():
        started.set()
        release.wait(5)
        return encode(halves())

    part = PicturePart(sha256="a", load=load)
    cache = PictureCache()
    first = asyncio.create_task(cache.get(part, LIMIT))
    second = asyncio.create_task(cache.get(part, LIMIT))
    await asyncio.to_thread(started.wait, 5)
    first.cancel()
    release.set()
    assert (await second).width == 60
    with pytest.raises(asyncio.CancelledError):
        await first


@given(
    width=st.integers(1, 300), height=st.integers(1, 300), least=st.integers(2, 128)
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_a_thin_picture_is_laid_on_white_and_its_place_is_known(width, height, least):
    out = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(out, "PNG")
    made = prepare(out.getvalue(), PictureLimit(min_side=least))
    assert min(made.width, made.height) >= least
    assert max(made.width, made.height) <= MOST_ASPECT * min(made.width, made.height)
    left, top, right, bottom = made.content
    assert (right - left, bottom - top) == (width, height)
    sent = Image.open(io.BytesIO(made.data)).convert("RGB")
    assert sent.size == (made.width, made.height)
    assert sent.crop(made.content).getcolors() == [(width * height, (255, 0, 0))]
    padded = (made.width, made.height) != (width, height)
    assert padded == any("padded with white" in note for note in made.notes)


def test_a_long_thin_picture_is_scaled_then_padded():
    out = io.BytesIO()
    Image.new("RGB", (4096, 8), "red").save(out, "PNG")
    made = prepare(out.getvalue(), PictureLimit(max_side=2048, min_side=28))
    # Scaled to 2048 x 4; 28 pixels are more than a hundredth of 2048.
    assert (made.width, made.height) == (2048, 28)
    assert made.content == (0, 12, 2048, 16)
    assert any("scaled from 4096x8 to 2048x4" in note for note in made.notes)


async def test_the_shortest_side_is_part_of_what_is_cached():
    out = io.BytesIO()
    Image.new("RGB", (50, 5), "red").save(out, "PNG")
    part, cache = PicturePart.from_bytes(out.getvalue()), PictureCache()
    bare = await cache.get(part, PictureLimit())
    padded = await cache.get(part, PictureLimit(min_side=28))
    assert (bare.height, padded.height) == (5, 28)
