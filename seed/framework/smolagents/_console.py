"""Plain-text stand-ins for the few names of `rich` that smolagents uses. Not part of upstream."""

import sys
from types import SimpleNamespace
from typing import Any


box = SimpleNamespace(HORIZONTALS=None)


class Text:
    """A piece of text; style is dropped."""

    def __init__(self, text: Any = "", style: str | None = None, **_: Any):
        self.plain = str(text)

    def __add__(self, other: Any) -> "Text":
        return Text(self.plain + str(other))

    def __str__(self) -> str:
        return self.plain


class Markdown(Text):
    pass


class Syntax(Text):
    def __init__(self, code: str, lexer: str = "", **_: Any):
        super().__init__(code)


class Rule(Text):
    def __init__(self, title: str = "", **_: Any):
        super().__init__(f"--- {title} ---")


class Group:
    """Several things, one below the other."""

    def __init__(self, *parts: Any):
        self.parts = parts

    def __str__(self) -> str:
        return "\n".join(str(part) for part in self.parts)


class Panel(Group):
    def __init__(self, content: Any = "", title: str | None = None, subtitle: str | None = None, **_: Any):
        super().__init__(*[part for part in (title, content, subtitle) if part])


class Table:
    """Rows of cells, separated by bars."""

    def __init__(self, *headers: str, **_: Any):
        self.rows: list[tuple[Any, ...]] = []

    def add_column(self, header: str = "", **_: Any) -> None:
        pass

    def add_row(self, *cells: Any) -> None:
        self.rows.append(cells)

    def __str__(self) -> str:
        return "\n".join(" | ".join(str(cell) for cell in row) for row in self.rows)


class Tree:
    """A label with indented branches."""

    def __init__(self, label: Any = "", **_: Any):
        self.label, self.children = label, []

    def add(self, label: Any, **_: Any) -> "Tree":
        self.children.append(Tree(label))
        return self.children[-1]

    def __str__(self) -> str:
        below = "\n".join(str(child) for child in self.children).replace("\n", "\n  ")
        return f"{self.label}\n  {below}" if self.children else str(self.label)


class Console:
    """Prints to standard output."""

    def __init__(self, file: Any = None, **_: Any):
        self.file = file

    def print(self, *parts: Any, **_: Any) -> None:
        text = " ".join(str(part) for part in parts)
        file = self.file or sys.stdout
        file.write(text.encode("utf-8", "replace").decode("utf-8") + "\n")

    log = print


class Live:
    """A display that shows its last content once, when it is left."""

    def __init__(self, content: Any = "", console: Console | None = None, **_: Any):
        self.content, self.console = content, console or Console()

    def __enter__(self) -> "Live":
        return self

    def update(self, content: Any) -> None:
        self.content = content

    def __exit__(self, *_: Any) -> None:
        self.console.print(self.content)
