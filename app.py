"""The app: page config, then the frame, which runs the chosen screen."""

import streamlit as st

from atom.ui.shell import frame, launch

st.set_page_config(page_title="Atomscope", layout="wide", initial_sidebar_state=frame.MENU_WIDTH)
if launch.is_bare():
    st.error(launch.BARE)
    st.stop()
frame.run()
