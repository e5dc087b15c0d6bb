"""Measures a sorting network: all 2^10 zero-one inputs, one JSON object out.

Usage: measure.py [EVIDENCE]   (default /evidence, which holds candidate.json)
"""

import json
import math
import sys
from pathlib import Path

WIRES = 10
WORST = 100
FACTS = ("ticks", "tried", "accepted", "before", "after", "loss")


def measure(candidate):
    """Value and facts of a candidate; an invalid one counts as the worst network."""
    found = candidate if isinstance(candidate, dict) else {}
    pairs = found.get("answer")
    reason = fault(pairs)
    value = WORST if reason else len(pairs)
    claimed = found.get("value")
    return {
        "value": value,
        "valid": not reason,
        "invalid": bool(reason),
        "reason": reason,
        "depth": WORST if reason else depth(pairs),
        "claim_holds": is_number(claimed) and claimed == value,
        "answer": [] if reason else pairs,
        "ticks": fact(found.get("ticks")),
        "limit": fact(found.get("limit")),
        "stages": stages(found.get("stages")),
    }


def fault(pairs):
    """Why the comparators are no sorting network, or an empty text."""
    if not isinstance(pairs, list) or len(pairs) > WORST:
        return f"answer is not a list of at most {WORST} comparators"
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or any(type(k) is not int for k in pair):
            return "a comparator is not a pair of whole numbers"
        if not 0 <= pair[0] < pair[1] < WIRES:
            return f"comparator {pair} is not [low wire, high wire]"
    for case in range(1 << WIRES):
        if not sorts(pairs, case):
            return f"input {case:0{WIRES}b} is not sorted"
    return ""


def sorts(pairs, case):
    """Whether the smaller values of one zero-one input end on the lower wires."""
    values = [case >> wire & 1 for wire in range(WIRES)]
    for a, b in pairs:
        if values[a] > values[b]:
            values[a], values[b] = values[b], values[a]
    return values == sorted(values)


def depth(pairs):
    level = [0] * WIRES
    for a, b in pairs:
        level[a] = level[b] = max(level[a], level[b]) + 1
    return max(level)


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
