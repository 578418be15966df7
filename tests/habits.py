"""A probe judge that writes boxes as other models do."""

from __future__ import annotations

import io
import json
from typing import Any

from PIL import Image

from atom.probes.serving.endpoint import ProbeEndpoint
from atom.probes.serving.protocol import ChatRequest, decode_picture

HABITS = ("xyxy_1000", "yxyx_1000", "xyxy_pixels", "xyxy_unit")


class HabitualEndpoint(ProbeEndpoint):
    """Points at the right places, in its own way of writing them.

    Args:
        habit: a box convention.
    """

    def __init__(self, habit: str) -> None:
        super().__init__()
        self.habit = habit

    def _content(self, request: ChatRequest) -> str:
        text = super()._content(request)
        try:
            reply = json.loads(text)
        except ValueError:
            return text
        sizes = [
            Image.open(io.BytesIO(decode_picture(picture))).size for picture in request.pictures
        ]
        self._rewrite(reply, sizes)
        return json.dumps(reply)

    def _rewrite(self, value: Any, sizes: list[tuple[int, int]]) -> None:
        if isinstance(value, dict) and "box" in value:
            value["box"] = self._written(value["box"], sizes[value["picture"] - 1])
        elif isinstance(value, dict | list):
            for one in value.values() if isinstance(value, dict) else value:
                self._rewrite(one, sizes)

    def _written(self, box: list[int], size: tuple[int, int]) -> list[float]:
        left, top, right, bottom = (side / 1000 for side in box)
        width, height = size
        if self.habit == "yxyx_1000":
            return [round(1000 * side) for side in (top, left, bottom, right)]
        if self.habit == "xyxy_pixels":
            return [round(side) for side in
                    (left * width, top * height, right * width, bottom * height)]  # fmt: skip
        if self.habit == "xyxy_unit":
            return [round(side, 4) for side in (left, top, right, bottom)]
        return box
