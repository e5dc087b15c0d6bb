"""Which paths a genome may hold."""

import pytest

from services.lineage.core import paths

ALLOWED = [
    "solver.py",
    "a/b/c.txt",
    ".gitignore",
    ".github/workflows/x.yml",
    "git",
    ".gitx/config",
    "...",
    "ünïcode.py",
    "with space.md",
    "x" * 255,
]
REFUSED = {
    "": "empty",
    "/etc/passwd": "absolute",
    "..": "leaves",
    "a/../b": "leaves",
    "./a": "empty part",
    "a//b": "empty part",
    "a/": "empty part",
    "a\0b": "NUL",
    "a\nb": "control",
    "a\\b": "backslash",
    "\ud800": "surrogate",
    "e\u0301.py": "NFC",
    "x" * 256: "longer",
    "y/" * 600 + "z": "longer",
    ".git": "git folder",
    ".git/config": "git folder",
    "a/.git/config": "git folder",
    ".GIT/config": "git folder",
    ".Git": "git folder",
    "\uff0egit/config": "git folder",
    ".\uff47it": "git folder",
    ".g\u200cit/config": "git folder",
    "\ufeff.git": "git folder",
    ".git\u200d": "git folder",
    ".git.": "git folder",
    ".git /x": "git folder",
    ".git::$INDEX_ALLOCATION": "git folder",
    "git~1": "git folder",
    "GIT~1/config": "git folder",
}


@pytest.mark.parametrize("path", ALLOWED)
def test_ordinary_paths_are_allowed(path: str) -> None:
    assert paths.violation(path) is None


@pytest.mark.parametrize(("path", "why"), REFUSED.items(), ids=ascii)
def test_unsafe_paths_are_refused_with_the_reason(path: str, why: str) -> None:
    assert why in (paths.violation(path) or "")
