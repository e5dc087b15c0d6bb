"""A solver as the search sees it: salt, layout, stages; read from source and written back."""

import ast
from dataclasses import dataclass, replace

from kadath.offline.search.part import Part
from kadath.offline.search.toolbox import Toolbox


@dataclass(frozen=True)
class Stage:
    """A part that improves the answer, and its share of the work budget."""

    part: Part
    share: float


@dataclass(frozen=True)
class Program:
    """A layout, the stages that follow it, and the salt of the generator."""

    salt: int
    layout: Part
    stages: tuple[Stage, ...]

    def budgeted(self) -> "Program":
        """The same program with shares that spend the whole budget."""
        total = sum(stage.share for stage in self.stages) or 1.0
        even = tuple(replace(s, share=max(0.01, round(s.share / total, 3))) for s in self.stages)
        return replace(self, stages=even)


def read(source: str) -> Program | None:
    """The program in this source, or None when it has not the shape of one."""
    try:
        tree = ast.parse(source)
        return _assemble(tree)
    except (SyntaxError, ValueError, KeyError, TypeError):
        return None


def problem_of(source: str) -> str | None:
    """What the source says it solves."""
    try:
        value = _assigned(ast.parse(source)).get("PROBLEM")
        return ast.literal_eval(value) if value is not None else None
    except (SyntaxError, ValueError):
        return None


def write(program: Program, toolbox: Toolbox) -> str:
    """Complete source of the program."""
    parts, stages = _named(program)
    body: list[ast.stmt] = [
        ast.Expr(ast.Constant(toolbox.docstring)),
        *ast.parse(toolbox.imports).body,
        *ast.parse(f"PROBLEM = {toolbox.problem!r}\nSALT = {program.salt}").body,
        *[part.node for part in parts],
        *ast.parse(f"LAYOUT = {program.layout.kind}\nSTAGES = [{stages}]").body,
        *ast.parse("if __name__ == '__main__':\n    main(LAYOUT, STAGES, SALT)").body,
    ]
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, []))) + "\n"


def _assemble(tree: ast.Module) -> Program:
    parts = {node.name: Part(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = _assigned(tree)
    layout, listed = names["LAYOUT"], names["STAGES"]
    if not isinstance(layout, ast.Name) or not isinstance(listed, ast.List):
        raise ValueError("LAYOUT is a name and STAGES a list")
    stages = []
    for item in listed.elts:
        if not isinstance(item, ast.Tuple) or not isinstance(item.elts[0], ast.Name):
            raise ValueError("a stage is a pair of name and share")
        stages.append(Stage(parts[item.elts[0].id], float(ast.literal_eval(item.elts[1]))))
    return Program(int(ast.literal_eval(names["SALT"])), parts[layout.id], tuple(stages))


def _assigned(tree: ast.Module) -> dict[str, ast.expr]:
    return {
        statement.targets[0].id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    }


def _named(program: Program) -> tuple[list[Part], str]:
    """Parts with a name of their own each, and the text of the list of stages."""
    parts = [program.layout.renamed(program.layout.kind)]
    pairs: list[str] = []
    for stage in program.stages:
        taken = sum(part.kind == stage.part.kind for part in parts)
        name = f"{stage.part.kind}_{taken + 1}" if taken else stage.part.kind
        parts.append(stage.part.renamed(name))
        pairs.append(f"({name}, {stage.share})")
    return parts, ", ".join(pairs)
