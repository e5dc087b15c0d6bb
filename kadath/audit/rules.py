"""Every rule by its name: JSON in, JSON out. The same functions that the services decide by.

`kadath rules` lists them; `kadath rules --check FILE` runs cases
`[{"name", "op", "input", "expect"}]`. In `expect` only what is named is compared.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from kadath.audit import rules_broker, rules_evolution, rules_grading, rules_running

Op = Callable[[dict[str, Any]], dict[str, Any]]
OPS: Mapping[str, Op] = (
    rules_grading.OPS | rules_evolution.OPS | rules_running.OPS | rules_broker.OPS
)


class BadInput(ValueError):
    """The input of an op has not the shape that it asks for."""


class Wrong(NamedTuple):
    """A case whose answer is not the expected one."""

    name: str
    expected: object
    actual: object


def meaning(op: str) -> str:
    """One line."""
    return (OPS[op].__doc__ or "").strip().splitlines()[0]


def answer(op: str, given: object) -> dict[str, Any]:
    """What the rule says. Raises `BadInput` with a reason."""
    if op not in OPS:
        raise BadInput(f"there is no rule {op}; `kadath rules` lists them")
    if not isinstance(given, dict):
        raise BadInput("the input is a JSON object")
    try:
        return OPS[op](given)
    except KeyError as error:
        raise BadInput(f"{op} needs {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadInput(f"{error.title}.{where}: {first['msg']}") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise BadInput(f"{op} cannot read its input: {error}") from error


def check(cases: Sequence[Mapping[str, Any]]) -> list[Wrong]:
    """Every case that does not come out as expected."""
    found = []
    for number, case in enumerate(cases):
        name = str(case.get("name", f"case {number}"))
        try:
            actual: object = answer(str(case.get("op")), case.get("input"))
        except BadInput as error:
            actual = {"bad_input": str(error)}
        if not agrees(case.get("expect"), actual):
            found.append(Wrong(name, case.get("expect"), actual))
    return found


def agrees(expected: object, actual: object) -> bool:
    """Objects agree in what is expected of them; everything else is equal."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(key in actual and agrees(value, actual[key]) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        pairs = zip(expected, actual, strict=False)
        return len(expected) == len(actual) and all(agrees(e, a) for e, a in pairs)
    return type(expected) is type(actual) and expected == actual
