"""Makes tools out of documented functions; one without full documentation is an error at start."""

from collections.abc import Callable
from typing import Any

from smolagents._function_type_hints_utils import get_json_schema
from smolagents.tools import Tool


class FunctionTool(Tool):
    """A tool whose name, arguments and documentation are those of a function."""

    skip_forward_signature_validation = True

    def __init__(self, function: Callable[..., Any]):
        # The schema refuses a function with an argument that its docstring leaves out.
        schema = get_json_schema(function)["function"]
        self.name, self.description = schema["name"], " ".join(schema["description"].split())
        self.inputs = schema["parameters"]["properties"]
        output = schema.get("return", {}).get("type", "any")
        self.output_type = output if isinstance(output, str) else "any"
        self.required = tuple(schema["parameters"].get("required", ()))
        self.forward = function  # type: ignore[method-assign]
        super().__init__()

    def signature(self) -> str:
        """As in a call: optional arguments carry a `?`."""
        names = (name if name in self.required else f"{name}?" for name in self.inputs)
        return f"{self.name}({', '.join(names)})"


def build(functions: list[Callable[..., Any]]) -> dict[str, FunctionTool]:
    """Tools by name."""
    return {function.__name__: FunctionTool(function) for function in functions}
