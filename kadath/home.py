"""Where a user's KADATH lives, and who is running it."""

import fcntl
import hashlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT_STATE = Path("/var/lib/kadath")
SYSTEM_USER = "kadath"
STOP_SECONDS = 30


class HomeBusy(RuntimeError):
    """Another kernel holds this home."""


class HomeUnusable(RuntimeError):
    """The folder cannot be written; the message says what to do."""


@dataclass(frozen=True)
class Home:
    """`folder` is the visible `.kadath/`; `state` is where durable data lies."""

    folder: Path
    state: Path
    sockets: Path

    @property
    def kernel_file(self) -> Path:
        return self.folder / "kernel.json"


def find(explicit: Path | None = None) -> Home:
    """`--home`, else KADATH_HOME, else the nearest `.kadath/` upwards, else one here."""
    chosen = explicit or (Path(os.environ["KADATH_HOME"]) if "KADATH_HOME" in os.environ else None)
    folder = (chosen or _nearest(Path.cwd())).absolute()
    mark = hashlib.sha256(str(folder).encode()).hexdigest()[:8]
    if os.geteuid() == 0:
        return Home(folder, ROOT_STATE / mark, Path(f"/run/kadath-{mark}"))
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    return Home(folder, folder / "state", Path(base) / f"kadath-{mark}")


def _nearest(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / ".kadath").is_dir():
            return folder / ".kadath"
    return start / ".kadath"


def prepare(home: Home) -> None:
    """Make the folders. Raises `HomeUnusable` with the folder and the reason."""
    try:
        home.folder.mkdir(parents=True, exist_ok=True)
        _set_aside_foreign_state(home)
        home.state.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:  # sandboxes of another user pass through, and may list nothing
            os.chmod(ROOT_STATE, 0o711)
            os.chmod(home.state, 0o711)
        home.sockets.mkdir(parents=True, exist_ok=True, mode=0o711)
        _probe(home.folder)
        _probe(home.state)
    except OSError as error:
        raise HomeUnusable(
            f"{error.filename or home.folder} cannot be used: {error.strerror}. "
            "Choose another folder with --home or KADATH_HOME."
        ) from error


def _set_aside_foreign_state(home: Home) -> None:
    """As root the data lies elsewhere: data of a home that was deleted must not come back."""
    mark = home.folder / "home-id"
    if mark.exists():
        return
    if home.state.exists() and home.folder not in home.state.parents and not is_held(home):
        old = home.state.with_name(f"{home.state.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        os.rename(home.state, old)
    mark.write_text(home.state.name)


def _probe(folder: Path) -> None:
    path = folder / ".writable"
    path.write_bytes(b"")
    path.unlink()


def lock(home: Home) -> IO[str]:
    """Hold the lock beside the data while the kernel lives. Raises `HomeBusy`."""
    file = open(home.state / "lock", "w")  # noqa: SIM115  held for the life of the process
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise HomeBusy(f"a kernel already runs in {home.folder}") from None
    return file


@dataclass(frozen=True)
class Kernel:
    """A running kernel as its clients find it."""

    pid: int
    version: str
    nats_url: str
    api_url: str
    operator_seed: str
    api_token: str


def running_kernel(home: Home) -> Kernel | None:
    """The kernel of this home, or None; a file without a holder of the lock is stale."""
    try:
        found = json.loads(home.kernel_file.read_text())
        with open(home.state / "lock") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        return Kernel(**found)
    except (OSError, ValueError):
        return None


def is_held(home: Home) -> bool:
    """Whether a kernel holds this home, also one that is starting or stopping."""
    try:
        with open(home.state / "lock") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False


def stop_kernel(home: Home) -> bool:
    """End the kernel of this home and wait until it has let go; False: none runs."""
    kernel = running_kernel(home)
    if kernel is None:
        return False
    os.kill(kernel.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while is_held(home) and time.monotonic() < deadline:
        time.sleep(0.05)
    return True


def announce(home: Home, kernel: Kernel) -> None:
    """Write `kernel.json`, readable by the owner alone."""
    temporary = home.kernel_file.with_suffix(".tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(vars(kernel), file)
    os.replace(temporary, home.kernel_file)


def sandbox_user() -> tuple[int, int] | None:
    """As root: the system user that children and sandboxes run as; made once."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        _make_user()
        entry = _entry(SYSTEM_USER) or pwd.getpwnam("nobody")
    return entry.pw_uid, entry.pw_gid


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _make_user() -> None:
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin"]
    subprocess.run([*command, SYSTEM_USER], check=False, capture_output=True)
