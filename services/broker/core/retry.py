"""How often and how soon a failed call is tried again."""

TRIES = 5
FIRST_SECONDS = 0.1
LONGEST_SECONDS = 5.0
LONGEST_ASKED_SECONDS = 60.0


def pause(failures: int, retry_after: float | None, jitter: float) -> float:
    """Seconds to wait after the n-th failure in a row; `jitter` is in [0, 1)."""
    wait: float = min(FIRST_SECONDS * 2 ** (failures - 1), LONGEST_SECONDS)
    wait *= 0.5 + jitter / 2
    return max(wait, min(retry_after or 0.0, LONGEST_ASKED_SECONDS))
