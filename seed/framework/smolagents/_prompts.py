"""Reads the prompt files: the subset of YAML they use (maps, `|-` blocks). Not part of upstream."""

import re
from pathlib import Path
from typing import Any


KEY = re.compile(r"^( *)(\w+) *:(.*)$")


def load_prompts(name: str) -> dict[str, Any]:
    """The templates of `prompts/<name>`, as `yaml.safe_load` would give them."""
    return parse((Path(__file__).parent / "prompts" / name).read_text(encoding="utf-8"))


def parse(text: str) -> dict[str, Any]:
    """A map of maps and strings."""
    lines = text.splitlines()
    found, end = _mapping(lines, 0, 0)
    if end != len(lines):
        raise ValueError(f"line {end + 1}: not a key of this level")
    return found


def _mapping(lines: list[str], at: int, indent: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        match = KEY.match(lines[at])
        if not match or len(match[1]) != indent:
            break
        value = match[3].strip()
        if value == "|-":
            found[match[2]], at = _block(lines, at + 1, indent)
        elif value:
            raise ValueError(f"line {at + 1}: only nested keys and '|-' blocks are read here")
        else:
            found[match[2]], at = _mapping(lines, at + 1, indent + 2)
    return found, at


def _block(lines: list[str], at: int, indent: int) -> tuple[str, int]:
    end = at
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > indent):
        end += 1
    inner = next((_indent(line) for line in lines[at:end] if line.strip()), 0)
    return "\n".join(line[inner:] for line in lines[at:end]).rstrip("\n"), end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
