"""The memory of a sandbox summed from /proc: the limit's stand-in where there are no cgroups."""

import os


def resident_bytes(first: int) -> int:
    """Anonymous and shared memory of a process and all its descendants."""
    total, waiting = 0, [first]
    while waiting:
        pid = waiting.pop()
        try:
            total += _own_bytes(pid)
            waiting += _children(pid)
        except OSError:  # it ended meanwhile
            continue
    return total


def _own_bytes(pid: int) -> int:
    with open(f"/proc/{pid}/status", "rb") as file:
        lines = file.read().splitlines()
    wanted = (line for line in lines if line.startswith((b"RssAnon:", b"RssShmem:")))
    return sum(int(line.split()[1]) << 10 for line in wanted)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
            found += map(int, file.read().split())
    return found
