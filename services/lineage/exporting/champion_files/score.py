"""Runs the benchmark's own programs over candidate.json (else the recorded one), no model.

The programs see /program, /evidence and /input as in a run, so `bwrap` has to be there.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def main() -> None:
    if shutil.which("bwrap") is None:
        sys.exit("score.py needs bubblewrap (`bwrap`) to give the program its folders")
    benchmark = json.loads((HERE / "benchmark.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for program in benchmark["programs"]:
            print(measure(program, Path(folder)), end="")


def prepare(folder: Path) -> None:
    found = [HERE / name for name in ("candidate.json", "recorded-candidate.json")]
    candidate = next((path for path in found if path.is_file()), None)
    (folder / "evidence").mkdir()
    (folder / "input").mkdir()
    if candidate:
        shutil.copy(candidate, folder / "evidence" / "candidate.json")
    champion = json.loads((HERE / "champion.json").read_text(encoding="utf-8"))
    asked = {name: champion[name] for name in ("agent", "genome", "seed")}
    asked |= {"attempt": "champion", "cumulative": False}
    (folder / "input" / "measure.json").write_text(json.dumps(asked), encoding="utf-8")


def measure(program: dict[str, Any], folder: Path) -> str:
    binds = []
    for place in ("/usr", "/bin", "/lib", "/lib64", "/etc/alternatives"):
        binds += ["--ro-bind-try", place, place]
    binds += ["--ro-bind", str(HERE / "programs" / program["id"]), "/program"]
    for name in ("evidence", "input"):
        binds += ["--ro-bind", str(folder / name), f"/{name}"]
    command = ["bwrap", "--unshare-all", "--die-with-parent", *binds, "--proc", "/proc"]
    command += ["--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/program", "--", *program["argv"]]
    seconds = program["timeout_seconds"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    if done.returncode:
        sys.exit(f"{program['id']} failed: {done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
