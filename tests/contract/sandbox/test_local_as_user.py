"""The same tests as an ordinary user, when these run as root."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
USER = "65534"


def test_all_of_it_holds_for_an_ordinary_user(home: Path) -> None:
    """No rights are needed: user namespaces are enough."""
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user already")
    os.chown(home, int(USER), int(USER))
    drop = ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "env"]
    packages = [path for path in sys.path if path.endswith("site-packages")]
    environ = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *packages]),
    }
    python = _python(drop, environ)
    tests = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(Path(__file__).parent)]
    done = subprocess.run(  # noqa: PLW1510
        [*drop, *python, *tests], env=environ, cwd=home, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout[-4000:]


def _python(drop: list[str], environ: dict[str, str]) -> list[str]:
    """An interpreter that this user may run: root's own often lies in root's home."""
    for python in ("/usr/bin/python3", sys.executable):
        check = [*drop, python, "-c", "import pytest, pydantic, services.sandbox.local"]
        try:
            if (
                subprocess.run(
                    check, env=environ, cwd="/", capture_output=True, check=False
                ).returncode
                == 0
            ):
                return [python]
        except OSError:
            continue
    pytest.skip("no Python that an ordinary user may run can import this project")
