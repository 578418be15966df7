"""Our client against a real model server: pictures arrive, in order, and refusals are plain."""

from __future__ import annotations

import pytest

from atom.errors import PermanentError
from atom.judge import JudgeClient, PicturePart, Request, TextPart, failed_call
from atom.records import Sampling

COLOURS = ["black", "red", "green", "blue", "yellow", "purple", "cyan", "white"]


def schema_of(*names: str) -> dict[str, object]:
    """Return a reply schema with one colour word a name."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "enum": COLOURS} for name in names},
        "required": list(names),
        "additionalProperties": False,
    }


def ask_colour(*parts: PicturePart | TextPart, names: tuple[str, ...] = ("colour",)) -> Request:
    """Build a request that a judge could send."""
    return Request(
        task="scoring",
        prompt_id="scoring/1",
        system="Atomscope task: scoring/1",
        parts=parts,
        schema=schema_of(*names),
        schema_name="atomscope_scoring",
        sampling=Sampling(temperature=0.0, max_tokens=40),
    )


@pytest.mark.parametrize("colour", ["red", "green", "blue", "yellow"])
async def test_a_plain_picture_arrives(seeing, plain, colour):
    request = ask_colour(
        PicturePart.from_bytes(plain(colour)), TextPart(text="What colour is this?")
    )
    async with JudgeClient(seeing) as client:
        reply = await client.ask(request)
    assert reply.state == "ok", reply.reason
    assert reply.data == {"colour": colour}
    assert reply.call.form == "json_schema"
    assert reply.call.attempts == 1
    assert reply.call.reply == reply.text
    assert reply.call.usage.completion_tokens


@pytest.mark.parametrize("form", ["JPEG", "WEBP", "BMP", "GIF"])
async def test_every_file_format_arrives(seeing, plain, form):
    request = ask_colour(
        PicturePart.from_bytes(plain("blue", form)), TextPart(text="What colour is this?")
    )
    async with JudgeClient(seeing) as client:
        reply = await client.ask(request)
    assert reply.data == {"colour": "blue"}
    if form == "WEBP":
        assert any("PNG" in note for note in reply.notes)


@pytest.mark.parametrize("order", [("red", "blue"), ("blue", "red"), ("green", "black")])
async def test_several_pictures_keep_their_order(seeing, plain, order):
    first, second = (PicturePart.from_bytes(plain(colour)) for colour in order)
    request = ask_colour(
        TextPart(text='The first word is "'),
        first,
        TextPart(text='" and the second word is "'),
        second,
        TextPart(text='". Repeat both words.'),
        names=("first", "second"),
    )
    async with JudgeClient(seeing) as client:
        reply = await client.ask(request)
    assert reply.data == {"first": order[0], "second": order[1]}


async def test_pieces_of_a_stream_make_the_reply(seeing, plain):
    request = ask_colour(
        PicturePart.from_bytes(plain("green")), TextPart(text="What colour is this?")
    )
    async with JudgeClient(seeing) as client:
        items = [item async for item in client.stream(request)]
    pieces, reply = items[:-1], items[-1]
    assert len(pieces) > 1
    assert "".join(pieces) == reply.text
    assert reply.data == {"colour": "green"}


async def test_a_reply_cut_by_the_token_limit_is_asked_for_again(seeing):
    request = Request(
        task="answer",
        prompt_id="answer/1",
        system="Atomscope task: answer/1",
        parts=(TextPart(text="Count from one to two hundred in words."),),
        sampling=Sampling(temperature=0.0, max_tokens=4),
    )
    async with JudgeClient(seeing) as client:
        reply = await client.ask(request)
    assert reply.call.attempts == 2
    assert any("cut by the token limit" in note for note in reply.notes)
    assert reply.text
    assert reply.state == ("cut" if reply.call.finish == "length" else "ok")


async def test_a_text_only_server_is_asked_once_and_refuses_plainly(blind, plain):
    request = ask_colour(
        PicturePart.from_bytes(plain("red")), TextPart(text="What colour is this?")
    )
    async with JudgeClient(blind) as client:
        with pytest.raises(PermanentError, match="image input is not supported") as refused:
            await client.ask(request)
        call = failed_call(refused.value)
        assert call is not None
        assert call.attempts == 1
        with pytest.raises(PermanentError) as again:
            await client.ask(request)
        assert failed_call(again.value) is None, "the second question isn't sent at all"
        reply = await client.ask(ask_colour(TextPart(text="Which colour is grass?")))
    assert blind.name in refused.value.message
    assert reply.state == "ok"
