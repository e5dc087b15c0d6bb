"""Run by /usr/bin/python3: the vendored library as its own documentation uses it; prints JSON."""

import json

from smolagents import ChatMessage, CodeAgent, Model, ToolCallingAgent, tool
from smolagents._prompts import load_prompts
from smolagents._template import render

PROMPTS = ("code_agent", "structured_code_agent", "toolcalling_agent")
VARIABLES = {
    "managed_agents": {},
    "authorized_imports": "[]",
    "custom_instructions": "CI",
    "code_block_opening_tag": "<c>",
    "code_block_closing_tag": "</c>",
}


@tool
def double(x: int) -> int:
    """Doubles.

    Args:
        x: A number.
    """
    return 2 * x


class Fixed(Model):
    """Always answers the same."""

    def generate(self, messages, **_):
        code = "final_answer(double(21))"
        return ChatMessage(role="assistant", content=f"Thought: t\n<code>\n{code}\n</code>")


def main() -> None:
    agent = CodeAgent(tools=[double], model=Fixed(), verbosity_level=2)
    ToolCallingAgent(tools=[double], model=Fixed(), verbosity_level=0)
    prompts = {name: load_prompts(f"{name}.yaml") for name in PROMPTS}
    found = {
        "answer": agent.run("What is it?"),
        "prompts": prompts,
        "rendered": {
            name: render(prompt["system_prompt"], VARIABLES | {"tools": agent.tools})
            for name, prompt in prompts.items()
        },
        "code": {name: known.to_code_prompt() for name, known in agent.tools.items()},
        "calling": {name: known.to_tool_calling_prompt() for name, known in agent.tools.items()},
    }
    print("RESULT" + json.dumps(found | {"variables": VARIABLES}))


main()
