"""One function of a program, and the constants its first statements set."""

import ast
import copy
import re

Constant = int | float | tuple[int, ...] | tuple[tuple[float, ...], ...]


class Part:
    """A function definition whose constants can be read and replaced; never changed in place."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.node = node

    @property
    def kind(self) -> str:
        """The name without the number that tells two copies of a part apart."""
        return re.sub(r"_\d+$", "", self.node.name)

    @property
    def text(self) -> str:
        return ast.unparse(self.renamed(self.kind).node)

    @property
    def constants(self) -> dict[str, Constant]:
        return {name: ast.literal_eval(value) for name, value in self._assigned()}

    def having(self, name: str, value: Constant) -> "Part":
        """The same part with another value of one constant."""
        node = copy.deepcopy(self.node)
        for statement in node.body:
            if _constant_name(statement) == name:
                assert isinstance(statement, ast.Assign)
                statement.value = ast.parse(repr(value), mode="eval").body
                break
        return Part(node)

    def renamed(self, name: str) -> "Part":
        node = copy.copy(self.node)
        node.name = name
        return Part(node)

    def _assigned(self) -> list[tuple[str, ast.expr]]:
        found = []
        for statement in self.node.body:
            if name := _constant_name(statement):
                assert isinstance(statement, ast.Assign)
                found.append((name, statement.value))
            elif not isinstance(statement, ast.Expr):
                break
        return found


def _constant_name(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_literal(value):
            return name
    return None


def _is_literal(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=int() | float()):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_literal(operand)
        case ast.Tuple(elts=elements):
            return bool(elements) and all(_is_literal(element) for element in elements)
    return False
