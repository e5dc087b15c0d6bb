"""Renders the subset of Jinja that the prompt templates use. Not part of upstream.

Expressions, `for` and `if` with whitespace control; `| list` is the one filter. A template is the
genome's own text, so its expressions are plain Python. An undefined name is an error.
"""

import re
from functools import lru_cache
from typing import Any


TAG = re.compile(r"(\s*)\{(\{|%)(-?)(.*?)(-?)(?:\}|%)\}(\s*)", re.DOTALL)


def render(template: str, variables: dict[str, Any]) -> str:
    """The text with its variables filled in."""
    if "{{" not in template and "{%" not in template:
        return template.removesuffix("\n")
    out: list[str] = []
    exec(_compiled(template), dict(variables) | {"_out": out})
    return "".join(out)


@lru_cache(maxsize=64)
def _compiled(template: str) -> Any:
    lines, depth = [], 0
    for literal, kind, expression in _pieces(template.removesuffix("\n")):
        if literal:
            lines.append("    " * depth + f"_out.append({literal!r})")
        if kind == "{":
            lines.append("    " * depth + f"_out.append(str({expression}))")
        elif kind == "%":
            depth, line = _statement(expression, depth)
            lines.append(line)
    if depth:
        raise ValueError("a block of the template is not closed")
    return compile("\n".join(lines), "<template>", "exec")


def _pieces(template: str) -> list[tuple[str, str, str]]:
    pieces, at, strip_next = [], 0, False
    for match in TAG.finditer(template):
        before, kind, strip_left, expression, strip_right, after = match.groups()
        literal = template[at : match.start()] + before
        literal = literal.lstrip() if strip_next else literal
        pieces.append((literal.rstrip() if strip_left else literal, kind, _python(expression)))
        strip_next, at = bool(strip_right), match.end() - len(after)
    tail = template[at:]
    return [*pieces, (tail.lstrip() if strip_next else tail, "", "")]


def _python(expression: str) -> str:
    return re.sub(r"([\w.()]+) *\| *list\b", r"list(\1)", expression.strip())


def _statement(statement: str, depth: int) -> tuple[int, str]:
    word = statement.split(None, 1)[0]
    if word in ("for", "if"):
        return depth + 1, "    " * depth + statement + ":"
    if word in ("endfor", "endif"):
        # A block may be empty, which Python refuses.
        return depth - 1, "    " * depth + "pass"
    if word in ("else", "elif"):
        return depth, "    " * (depth - 1) + statement + ":"
    raise ValueError(f"{word!r} is not a statement of this template language")
