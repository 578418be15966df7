"""A button that changes something stored, or asks a model, stands behind its role.

`team.button` draws it disabled, with the reason, for whoever may not do what it does. What is drawn
by Streamlit itself changes nothing beyond the session: it is listed here by its key.
"""

from __future__ import annotations

import ast

from tests.syntax import every

_KEYS = """
consent_no correction_refresh data_attach_check data_check data_delete_no data_make_ data_map_undo_
data_stop data_undo_no edit_add edit_balance edit_undo endpoint_test_no endpoint_test_stop
filter_clear find_clear gate_stop help_guide human_start key lab_consent_no
lab_delete_no lab_look lab_refresh news_look one_stop own_remove_ people_refresh ready_look
removal_no
reports_stop rivals_stop sign_in sign_out stop_all stop_step tab_refresh tree_leave
use_typed
"""
HARMLESS = frozenset(_KEYS.split())
"""Keys of buttons that look, take back what was typed, stop one's own work, or close something."""
DRAWERS = frozenset({"button", "form_submit_button"})


def key_of(call: ast.Call) -> str:
    """Return a button's key, the beginning of one that is put together."""
    for word in call.keywords:
        if word.arg != "key":
            continue
        if isinstance(word.value, ast.Constant):
            return str(word.value.value)
        if isinstance(word.value, ast.JoinedStr) and isinstance(word.value.values[0], ast.Constant):
            return str(word.value.values[0].value)
        return ast.unparse(word.value)
    return ast.unparse(call.args[0]) if call.args else ""


def plain_buttons(tree: ast.Module):
    """Yield the key of each button that Streamlit draws itself."""
    for node in every(tree, ast.Call):
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in DRAWERS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "st"
        ):
            yield key_of(node)


def test_what_changes_something_stands_behind_its_role(modules):
    found = {
        key: module.path.as_posix()
        for module in modules
        if "streamlit" in module.text
        for key in plain_buttons(module.tree)
    }
    loose = {f"{path}: {key}" for key, path in found.items() if key not in HARMLESS}
    assert not loose, f"draw these by team.button, or list them as harmless: {sorted(loose)}"
    assert set(found) >= HARMLESS, f"no such button: {sorted(HARMLESS - set(found))}"


def test_a_loose_button_is_found():
    tree = ast.parse("st.button('Go', key='go')\nst.button('x', key=f'a_{n}')\nteam.button('run')")
    assert list(plain_buttons(tree)) == ["go", "a_"]
