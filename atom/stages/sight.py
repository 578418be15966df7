"""A sample with its pictures at hand, and how a judge sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from atom.judge.pictures.cache import CachedPicture, PictureCache
from atom.judge.reply import Reply
from atom.judge.request import PicturePart
from atom.judge.servers.dialect import sent_sides
from atom.records import Endpoint, PictureLimit, Sample
from atom.stages.boxes import AS_ASKED, BoxSpace, SentPicture


@dataclass(frozen=True, kw_only=True)
class SightContext:
    """What is needed to know how a judge saw a picture."""

    endpoint: Endpoint
    cache: PictureCache

    @property
    def unchecked(self) -> str:
        """Say that nobody has checked how the judge writes boxes; empty where somebody has."""
        if self.endpoint.boxes is not None:
            return ""
        return (
            f"how {self.endpoint.name!r} writes boxes wasn't checked, so they may be drawn in the "
            f"wrong place: test it in Settings, or run `endpoint test {self.endpoint.name}`"
        )

    def _limit(self, least: int, most: int | None) -> PictureLimit | None:
        """Return the limits by which pictures were sent; None where their sizes don't count."""
        limit = self.endpoint.pictures
        sides = {
            "min_side": max(least, limit.min_side),
            "max_side": min(limit.max_side, most or limit.max_side),
        }
        limit = limit.model_copy(update=sides)
        return limit if self.endpoint.boxes == "xyxy_pixels" or limit.min_side > 1 else None

    async def space(
        self, pictures: Sequence[PicturePart], *, least: int = 1, most: int | None = None
    ) -> BoxSpace:
        """Say how the judge's boxes lie on pictures.

        Args:
            least: the side to which thin ones were padded, where the endpoint says less.
            most: the side to which large ones were scaled down, where the endpoint says more.

        Raises:
            PictureError: one can't be read or used.
        """
        limit, probe = self._limit(least, most), self.endpoint.is_probe
        return self._space(
            [await self.cache.get(part, limit, keep_program=probe) for part in pictures if limit]
        )

    def space_now(self, pictures: Sequence[PicturePart]) -> BoxSpace:
        """Say it outside of an event loop; see `space`."""
        limit, probe = self._limit(1, None), self.endpoint.is_probe
        return self._space(
            [self.cache.get_now(part, limit, keep_program=probe) for part in pictures if limit]
        )

    async def seen(self, material: Material) -> Material:
        """Say of a sample's pictures how the judge sees them."""
        return replace(material, space=await self.space(material.pictures), sight=self)

    def _space(self, sent: Sequence[CachedPicture]) -> BoxSpace:
        return BoxSpace(
            convention=self.endpoint.boxes,
            sent=tuple(
                SentPicture(width=one.width, height=one.height, content=one.content) for one in sent
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Material:
    """A sample with its pictures at hand.

    Args:
        pictures: its pictures, read when they are needed.
        space: how the judge's boxes lie on them.
        sight: how the judge sees them; None where it was told in `space` alone.
    """

    sample: Sample
    pictures: tuple[PicturePart, ...]
    space: BoxSpace = AS_ASKED
    sight: SightContext | None = None

    async def shown(self, reply: Reply, *, copied: bool = False) -> BoxSpace:
        """Say how a reply's boxes lie on the pictures, by what the client learned on the way.

        Args:
            copied: whether the judge was shown boxes, written before that was known: it may have
                copied them, or may have drawn its own.

        Raises:
            PictureError: a picture can't be read or used.
        """
        least, most = sent_sides(reply.call.adapted)
        if self.sight is None or (least == 1 and most is None):
            return self.space
        space = await self.sight.space(self.pictures, least=least, most=most)
        assumed = {one.content for one in self.space.sent}
        moved = space.padded or space.convention == "xyxy_pixels"
        if copied and moved and {one.content for one in space.sent} != assumed:
            return replace(
                space,
                lost="the pictures were fitted for the server after they were shown to the judge: "
                "give the endpoint pictures.min_side or max_side as the call's notes say",
            )
        return space
