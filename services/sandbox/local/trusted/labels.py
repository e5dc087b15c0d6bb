"""How the processes and cgroups of an attempt are named, so that a sweep finds them."""

PREFIX = "kadath-sandbox:"
CGROUP_PREFIX = "kadath~"
CGROUP_ROOT = "/sys/fs/cgroup"
V1_CONTROLLERS = ("memory", "pids", "cpu")


def label(scope: str, run: str, name: str) -> str:
    """Stands in the command line of every process that is ours."""
    return f"{PREFIX}{scope}/{run}/{name}"


def parse(text: str) -> tuple[str, str, str] | None:
    """Scope, run and name of a label; None for any other text."""
    parts = text.removeprefix(PREFIX).split("/") if text.startswith(PREFIX) else []
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None


def cgroup_name(text: str) -> str:
    """The folder name of a label's cgroups."""
    return CGROUP_PREFIX + text.removeprefix(PREFIX).replace("/", "~")


def from_cgroup(folder: str) -> str:
    """The label behind a folder name."""
    return PREFIX + folder.removeprefix(CGROUP_PREFIX).replace("~", "/")
