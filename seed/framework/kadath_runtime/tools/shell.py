"""Tools that run commands in the workspace: bounded ones, and jobs collected later."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from kadath_runtime.horizon import Horizon
from kadath_runtime.interpreter import child_environment
from kadath_runtime.pipes import Tail, ready, take

MAX_COMMAND_CHARS = 4000
MAX_SECONDS = 120
MAX_OUTPUT = 100_000
MAX_LIVE_JOBS = 8
TIMED_OUT = 124


class Job(NamedTuple):
    """A command in the background and the file its output goes to."""

    process: "subprocess.Popen[bytes]"
    log: Path


class Shell:
    """Commands as the organism's user, without its token."""

    def __init__(self, genome: Path, workspace: Path, jobs: Path, horizon: Horizon):
        self._genome, self._workspace, self._folder, self._horizon = (
            genome,
            workspace,
            jobs,
            horizon,
        )
        self._jobs: dict[str, Job] = {}

    def run_command(self, command: str, timeout_seconds: int = 30) -> dict:
        """Run a shell command in your workspace.

        Gives {"exit_code", "stdout", "stderr", "truncated"}; of each stream the last 100,000
        characters. Exit code 124 means that it was stopped.

        Args:
            command: For /bin/sh, at most 4,000 characters, for example "python3 /genome/solver.py".
            timeout_seconds: From 1 to 120; the command and all it started is killed then.
        """
        seconds = min(
            float(max(1, min(MAX_SECONDS, int(timeout_seconds)))), self._horizon.seconds_left()
        )
        process = self._started(command, subprocess.PIPE, subprocess.PIPE)
        try:
            streams = _collected(process, time.monotonic() + seconds)
            timed_out = process.poll() is None
        finally:
            kill_group(process)
            for stream in (process.stdout, process.stderr):
                stream.close()  # type: ignore[union-attr]
        out, err = streams
        note = f"\nstopped after {seconds:g} seconds" if timed_out else ""
        return {
            "exit_code": TIMED_OUT if timed_out else process.returncode,
            "stdout": out.text(),
            "stderr": err.text() + note,
            "truncated": out.truncated or err.truncated,
        }

    def start_job(self, command: str) -> str:
        """Start a shell command in the background and get its job id; at most 8 run at a time.

        Args:
            command: For /bin/sh, at most 4,000 characters; it runs until it ends or you do.
        """
        if sum(job.process.poll() is None for job in self._jobs.values()) >= MAX_LIVE_JOBS:
            raise ValueError(f"{MAX_LIVE_JOBS} jobs are running already")
        self._folder.mkdir(parents=True, exist_ok=True)
        name = f"job{len(self._jobs) + 1}"
        log = self._folder / f"{name}.log"
        with log.open("wb") as output:
            self._jobs[name] = Job(self._started(command, output, subprocess.STDOUT), log)
        return name

    def job_output(self, job: str) -> dict:
        """Look at a background job; gives {"running", "exit_code", "output", "truncated"}.

        Args:
            job: The id that start_job gave; the output is its last 100,000 bytes so far.
        """
        if job not in self._jobs:
            raise ValueError(
                f"there is no job {job!r}; there are {', '.join(self._jobs) or 'none'}"
            )
        process, log = self._jobs[job]
        exit_code = process.poll()
        with os.fdopen(os.open(log, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - MAX_OUTPUT))
            output = file.read(MAX_OUTPUT).decode("utf-8", "replace")
        truncated = size > MAX_OUTPUT
        return {
            "running": exit_code is None,
            "exit_code": exit_code,
            "output": output,
            "truncated": truncated,
        }

    def close(self) -> None:
        """Kill all jobs and forget their output."""
        for job in self._jobs.values():
            kill_group(job.process)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _started(self, command: str, stdout: object, stderr: int) -> "subprocess.Popen[bytes]":
        if not isinstance(command, str) or not 0 < len(command) <= MAX_COMMAND_CHARS:
            raise ValueError(
                f"a command has 1 to {MAX_COMMAND_CHARS} characters; put longer ones in a file"
            )
        return subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,  # type: ignore[call-overload]
            cwd=self._workspace,
            env=child_environment(self._genome),
            start_new_session=True,
        )


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End a command and what is left of its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _collected(process: "subprocess.Popen[bytes]", end: float) -> tuple[Tail, Tail]:
    """Both streams until the command ends, whoever else still holds them open."""
    tails = {process.stdout.fileno(): Tail(MAX_OUTPUT), process.stderr.fileno(): Tail(MAX_OUTPUT)}  # type: ignore[union-attr]
    for fd in tails:
        os.set_blocking(fd, False)
    open_fds = list(tails)
    while (left := end - time.monotonic()) > 0:
        ended = process.poll() is not None
        pause = 0.0 if ended else min(left, 0.05 if open_fds else 0.005)
        found = ready(open_fds, pause) if open_fds else []
        if not found and ended:
            break
        if not open_fds:
            time.sleep(pause)
        for fd in found:
            content = take(fd)
            if content == b"":
                open_fds.remove(fd)
            tails[fd].add(content or b"")
    out, err = tails.values()
    return out, err
