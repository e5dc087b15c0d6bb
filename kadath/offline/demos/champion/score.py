"""Measures candidate.json with the benchmark's own program, prints its value with six digits."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    command = [sys.executable, "-B", str(HERE / "measure.py"), str(HERE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout)
    if not measured["valid"]:
        sys.exit(f"invalid: {measured['reason']}")
    print(f"{measured['value']:.6f}")


if __name__ == "__main__":
    main()
