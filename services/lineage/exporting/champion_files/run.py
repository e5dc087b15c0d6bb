"""Starts this organism against any OpenAI-compatible model. Standard library only.

    OPENAI_BASE_URL=https://host/v1 KADATH_TOKEN=key python run.py MODEL

Its work lands in work/, its answer in candidate.json.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 600


def main() -> None:
    if len(sys.argv) != 2 or not os.environ.get("OPENAI_BASE_URL"):
        sys.exit(__doc__)
    work = HERE / "work"
    work.mkdir(exist_ok=True)
    (work / "task.json").write_text(json.dumps(task(sys.argv[1])), encoding="utf-8")
    env = {**os.environ, "KADATH_TASK": str(work / "task.json"), "PYTHONDONTWRITEBYTECODE": "1"}
    env["PYTHONPATH"] = str(HERE)
    env.setdefault("KADATH_TOKEN", "none")
    code = subprocess.run([sys.executable, str(HERE / "organism.py")], cwd=work, env=env).returncode
    if (work / "candidate.json").is_file():
        shutil.copy(work / "candidate.json", HERE / "candidate.json")
    sys.exit(code)


def task(model: str) -> dict[str, object]:
    champion = json.loads((HERE / "champion.json").read_text(encoding="utf-8"))
    now = time.time()
    return {
        "run": champion["run"],
        "agent": champion["agent"],
        "attempt": "champion",
        "genome": champion["genome"],
        "purpose": "epoch",
        "epoch": champion["epoch"],
        "goal": (HERE / "goal.txt").read_text(encoding="utf-8"),
        "objective": (HERE / "goal.txt").read_text(encoding="utf-8"),
        "criterion": "",
        "model": model,
        "tools": [],
        "limits": {"passes": 1, "steps": 12},
        "finalize_at": now + SECONDS * 0.9,
        "deadline_at": now + SECONDS,
        "seed": champion["seed"],
        "budget": {},
    }


if __name__ == "__main__":
    main()
