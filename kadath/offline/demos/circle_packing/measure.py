"""Measures a packing: exact geometry over the frozen evidence, one JSON object out.

Usage: measure.py [EVIDENCE]   (default /evidence, which holds candidate.json)
"""

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

CIRCLES = 26
TOLERANCE = Fraction(1, 10**9)
FACTS = ("ticks", "tried", "accepted", "before", "after", "loss")


def measure(candidate):
    """Value and facts of a candidate; an invalid one is worth nothing."""
    found = candidate if isinstance(candidate, dict) else {}
    circles = exact(found.get("answer"))
    reason = fault(circles)
    value = 0.0 if reason else round(float(sum(r for _, _, r in circles)), 6)
    smallest = 0.0 if reason else round(float(min(r for _, _, r in circles)), 6)
    claimed = found.get("value")
    return {
        "value": value,
        "valid": not reason,
        "invalid": bool(reason),
        "reason": reason,
        "smallest": smallest,
        "claim_holds": is_number(claimed) and abs(claimed - value) <= 1e-6,
        "answer": [] if reason else [[round(float(item), 4) for item in row] for row in circles],
        "ticks": fact(found.get("ticks")),
        "limit": fact(found.get("limit")),
        "stages": stages(found.get("stages")),
    }


def exact(answer):
    """The rows as fractions, or None when it is no list of triples of finite numbers."""
    if not isinstance(answer, list) or len(answer) != CIRCLES:
        return None
    for row in answer:
        if not isinstance(row, list) or len(row) != 3 or not all(is_number(item) for item in row):
            return None
        if any(abs(item) > 10 for item in row):
            return None
    return [tuple(Fraction(item) for item in row) for row in answer]


def fault(circles):
    """Why the packing is not one, or an empty text."""
    if circles is None:
        return f"answer is not a list of {CIRCLES} triples [x, y, radius]"
    for i, (x, y, r) in enumerate(circles):
        if r <= 0:
            return f"circle {i} has no size"
        if min(x - r, y - r, 1 - x - r, 1 - y - r) < -TOLERANCE:
            return f"circle {i} leaves the square"
        for j, (a, b, s) in enumerate(circles[:i]):
            gap = r + s - TOLERANCE
            if gap > 0 and (x - a) ** 2 + (y - b) ** 2 < gap**2:
                return f"circles {j} and {i} overlap"
    return ""


def stages(claimed):
    """What the program says its stages did; it steers mutations and earns nothing."""
    rows = [row for row in claimed if isinstance(row, dict)] if isinstance(claimed, list) else []
    return [
        {"name": str(row.get("name"))[:40], **{name: fact(row.get(name)) for name in FACTS}}
        for row in rows[:8]
    ]


def fact(value):
    return value if is_number(value) and abs(value) < 1e12 else 0


def is_number(value):
    return type(value) in (int, float) and math.isfinite(value)


def read(folder):
    """The candidate in the evidence, or None when there is none that can be read."""
    try:
        return json.loads((Path(folder) / "candidate.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


if __name__ == "__main__":
    print(json.dumps(measure(read(sys.argv[1] if len(sys.argv) > 1 else "/evidence"))))
