"""The vendored smolagents: complete without any third-party package."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seed.layer import FRAMEWORK, INTERPRETER

ENVIRONMENT = {"PYTHONPATH": str(FRAMEWORK), "PYTHONDONTWRITEBYTECODE": "1"}


def python(*arguments: str) -> str:
    """What the sandbox's interpreter prints, without any site package."""
    command = [INTERPRETER, "-S", *arguments]
    done = subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return done.stdout


def test_the_start_imports_the_standard_library_alone() -> None:
    """No third-party package is needed, and the heavy ones are not even looked for."""
    code = "import sys, json, kadath_runtime.loop; print(json.dumps(list(sys.modules)))"
    names = {name.partition(".")[0] for name in json.loads(python("-c", code))}
    foreign = {name for name in names - set(sys.stdlib_module_names) if not name.startswith("_")}
    assert foreign == {"kadath_runtime", "smolagents"}


def test_the_stock_agents_still_work() -> None:
    """CodeAgent with its own interpreter and its own prompts, logging at full length."""
    assert stock()["answer"] == 42


def test_prompts_read_and_render_as_with_pyyaml_and_jinja() -> None:
    """The stand-ins give the same text as the packages they stand in for."""
    yaml, jinja2 = pytest.importorskip("yaml"), pytest.importorskip("jinja2")
    found = stock()
    tools = {name: shown(found["code"][name], found["calling"][name]) for name in found["code"]}
    for name, prompts in found["prompts"].items():
        text = (FRAMEWORK / "smolagents" / "prompts" / f"{name}.yaml").read_text()
        assert prompts == yaml.safe_load(text)
        template = jinja2.Template(prompts["system_prompt"], undefined=jinja2.StrictUndefined)
        assert found["rendered"][name] == template.render(tools=tools, **found["variables"])


def stock() -> dict[str, Any]:
    script = str(Path(__file__).with_name("stock_agents.py"))
    found: dict[str, Any] = json.loads(python(script).partition("RESULT")[2])
    return found


def shown(code: str, calling: str) -> SimpleNamespace:
    return SimpleNamespace(to_code_prompt=lambda: code, to_tool_calling_prompt=lambda: calling)
