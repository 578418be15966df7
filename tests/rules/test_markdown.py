"""Where Streamlit reads Markdown stands text that is written in the code, or `plain(...)`.

A label of foreign text is a way out: `![x](http://...)` in it is fetched by the reader's browser.
"""

from __future__ import annotations

import ast

import pytest

_LABELLED = """
badge button caption checkbox chat_input color_picker date_input datetime_input dialog
download_button error expander file_uploader form_submit_button header image info latex
link_button markdown menu_button metric multiselect number_input page_link pills popover
progress radio segmented_control select_slider selectbox slider spinner status subheader
success text_area text_input time_input title toast toggle warning write
"""
LABELLED = frozenset(_LABELLED.split())
OPTIONS_TOO = frozenset({"menu_button", "pills", "radio", "segmented_control", "select_slider"})
"""Their options are read as Markdown as well; those of a selectbox are text."""
NO_LABEL = frozenset({"page_link", "progress", "image", "menu_button"})
"""What comes first isn't shown as Markdown."""
WORDS = frozenset({"label", "help", "title", "caption", "captions", "body", "delta", "value"})
OWN_WORDS = frozenset({"plain", "meaning", "guide_part", "count", "len"})
"""Functions that give words of ours, or numbers in words."""
LOOKED_INTO = frozenset(
    {"str", "list", "tuple", "sorted", "join", "range", "enumerate", "capitalize", "upper", "lower",
     "split"}
)  # fmt: skip
GUARDED = ("team", "button")
"""Our own way to draw a button, with what it does before its label: its callers are looked at."""
NUMERIC = frozenset(",d%.0123456789fg")


def own_modules(tree: ast.Module) -> set[str]:
    """Names by which a module calls modules of ours: their `button` isn't Streamlit's."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("atom", "taxonomy"))
        for alias in node.names
    }


def sinks(tree: ast.Module, own_name: str = ""):
    """Yield (line, what it's for, expression, functions around it)."""
    own = own_modules(tree)

    def walk(node, around):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            around = (*around, node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root = node.func.value
            while isinstance(root, ast.Attribute | ast.Call | ast.Subscript):
                root = root.func if isinstance(root, ast.Call) else root.value
            name = node.func.attr
            ours = isinstance(root, ast.Name) and root.id in own - {GUARDED[0]}
            # `write` is a name of many things that aren't on screen.
            ours = ours or (name == "write" and ast.unparse(node.func.value) != "st")
            if not ours and name in LABELLED:
                guarded = ast.unparse(node.func) == ".".join(GUARDED)
                passed_on = len(around) == 1 and (own_name, around[0].name) == GUARDED
                if not passed_on:
                    yield from _of_call(_without_first(node) if guarded else node, name, around)
            elif ast.unparse(node.func).startswith("st.column_config."):
                yield from ((k.value.lineno, k.arg, k.value, around) for k in node.keywords
                            if k.arg == "help")  # fmt: skip
        for child in ast.iter_child_nodes(node):
            yield from walk(child, around)

    yield from walk(tree, ())


def _without_first(node):
    return ast.Call(node.func, node.args[1:], node.keywords, lineno=node.lineno)


def _of_call(node, name, around):
    if node.args and name not in NO_LABEL:
        yield node.lineno, "label", node.args[0], around
    if name in OPTIONS_TOO and len(node.args) > 1:
        shown = next((k.value for k in node.keywords if k.arg == "format_func"), node.args[1])
        yield node.lineno, "options", shown, around
    for keyword in node.keywords:
        if keyword.arg in WORDS - ({"value"} if name != "metric" else set()):
            yield node.lineno, keyword.arg, keyword.value, around
        if keyword.arg == "text" and name == "progress":
            yield node.lineno, keyword.arg, keyword.value, around


def evident(node, around, tree, depth=0) -> bool:  # noqa: C901 - a line a kind of expression
    """Whether it can be seen here that a text is ours."""

    def again(other):
        return evident(other, around, tree, depth + 1)

    if depth > 12:
        return False
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=values):
            return all(again(value) for value in values)
        case ast.FormattedValue(value=value, format_spec=spec):
            return _is_numeric(spec) or again(value)
        case ast.IfExp(body=body, orelse=other):
            return again(body) and again(other)
        case ast.BoolOp(values=values):
            return all(again(value) for value in values)
        case ast.BinOp(left=left, right=right):
            return again(left) and again(right)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return all(again(part) for part in parts)
        case ast.Dict(values=values):
            return all(again(value) for value in values)
        case ast.Lambda(body=body):
            return again(body)
        case ast.Starred(value=value):
            return again(value)
        case ast.Call(func=func, args=args):
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            if name in LOOKED_INTO:
                inside = func.value if isinstance(func, ast.Attribute) else None
                return all(again(arg) for arg in args) and (inside is None or again(inside))
            return name in OWN_WORDS
        case ast.Attribute(value=value) | ast.Subscript(value=value):
            constant = isinstance(node, ast.Attribute) and node.attr.isupper()
            inside = isinstance(node, ast.Subscript) and again(value)
            return constant or inside or _is_ours(value)
        case ast.Name(id=name):
            return name.isupper() or name == "plain" or _all_evident(name, around, tree, again)
    return False


def _is_ours(node) -> bool:
    """Whether it's a part of a constant, `WORDS[x].name`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id.isupper()


def _is_numeric(spec) -> bool:
    return isinstance(spec, ast.JoinedStr) and all(
        isinstance(part, ast.Constant) and set(str(part.value)) <= NUMERIC for part in spec.values
    )


def _all_evident(name, around, tree, again) -> bool:
    """Whether all that a local name is given is evident, or it is a number."""
    for function in reversed(around):
        arguments = [*function.args.args, *function.args.kwonlyargs]
        for argument in arguments:
            if argument.arg == name:
                kind = argument.annotation
                return isinstance(kind, ast.Name) and kind.id in {"int", "float", "bool"}
        given = [value for target, value in _bound(function) if target == name]
        if given:
            return all(again(value) for value in given)
    return False


def _bound(function):
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value:
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.target, node.iter)]
        else:
            continue
        for target, value in pairs:
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                yield from (
                    (ast.unparse(t), v) for t, v in zip(target.elts, value.elts, strict=False)
                )
            else:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        yield part.id, value


def faults(tree: ast.Module, own_name: str = "") -> list[str]:
    """List the places where it can't be seen that a text is ours."""
    return [
        f"{line}: {what} = {ast.unparse(node)[:80]}"
        for line, what, node, around in sinks(tree, own_name)
        if not evident(node, around, tree)
    ]


def test_no_foreign_text_is_read_as_markdown(modules):
    """Fall 7 of design/074."""
    found = [
        f"{module.path}:{fault}"
        for module in modules
        if module.name.startswith(("atom.ui", "pages", "app"))
        for fault in faults(module.tree, module.path.stem)
    ]
    assert found == [], "wrap it in plain(...) of atom/ui/plain.py"


@pytest.mark.parametrize(
    "line",
    [
        "st.button(name)",
        "st.button(f'Open {name}')",
        "left.caption(study.name)",
        "st.selectbox('One', [], help=node.name)",
        "st.pills('One', names)",
        "st.pills('One', [], format_func=lambda i: names[i])",
        "st.progress(0.5, text=name)",
        "st.expander(label='x' if name else name)",
        "words = 'a'\n    words = name\n    st.error(words)",
        "st.column_config.TextColumn('x', help=name)",
        "st.columns(2)[0].button(name)",
    ],
)
def test_a_sink_is_found(line):
    assert faults(ast.parse(f"def draw(name, names, node, study):\n    {line}\n")) != []


@pytest.mark.parametrize(
    "line",
    [
        "st.button('Open')",
        "st.button(f'Open {plain(name)}')",
        "st.button(f'Take {n:,}')",
        "st.button(WORDS[name].title)",
        "kit.button(name)",
        "words = 'a'\n    st.error(words)",
        "for word in WORDS:\n        st.caption(word)",
    ],
)
def test_what_is_ours_passes(line):
    source = f"from atom.ui import kit\ndef draw(name, n: int):\n    {line}\n"
    assert faults(ast.parse(source)) == []
