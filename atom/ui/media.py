"""Pictures served to the browser under an address of their own."""

from __future__ import annotations

import base64

from streamlit import config, runtime

from atom.ui.html import Html, el
from atom.views.pictures import PictureFile, read_thumbnail
from atom.views.stores import OpenStore


def media_address(file: PictureFile | None, place: str) -> str | None:
    """Serve a picture to this session's browser for as long as the page shows it.

    Args:
        file: the picture; None stays None.
        place: where on the page it stands, unique there.

    Returns:
        An address that an `img` can use.
    """
    if file is None:
        return None
    if not runtime.exists():
        return f"data:{file.media_type};base64,{base64.b64encode(file.data).decode()}"
    manager = runtime.get_instance().media_file_mgr
    path = manager.add(file.data, file.media_type, f"atom.{place}")
    base = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}{path}" if base else path


def thumbnail(store: OpenStore, sample_id: str, picture_id: str | None, name: str) -> Html:
    """Draw a sample's first picture small, or say what stands for it.

    Args:
        picture_id: the picture; None while there is none.
        name: the name by which the source calls it; empty where the sample has no picture.
    """
    address = None
    if picture_id is not None:
        address = media_address(read_thumbnail(store, picture_id), f"thumb.{sample_id}")
    if address is not None:
        return el("img", src=address, alt="", class_="thumb", loading="lazy")
    return el("span", "no picture" if name or picture_id else "text only", class_="nothumb")
