"""Pictures served to the browser under an address of their own."""

from __future__ import annotations

import base64

from streamlit import config, runtime

from atom.views.pictures import PictureFile


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
