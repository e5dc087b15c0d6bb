"""One outer process as the event loop sees it: no thread, no polling, two descriptors."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path

OUTER = Path(__file__).with_name("outer.py")
STOP = b"s"
PATIENCE_SECONDS = 1.0


class OuterProcess:
    """Started with an empty environment; gives its whole answer when it has ended."""

    def __init__(self, label: str, message: Iterable[bytes], python: str, cache: Path) -> None:
        request = _memory_file(message)
        reading, self._control = os.pipe()
        arguments = ["-I", "-S", "-X", f"pycache_prefix={cache}", str(OUTER)]
        try:
            self._child = subprocess.Popen(
                [python, *arguments, str(reading), label, str(os.getpid())],
                stdin=request,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                pass_fds=(reading,),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._control)
            raise
        finally:
            os.close(request)
            os.close(reading)
        self._end = os.pidfd_open(self._child.pid)
        self._ended = asyncio.get_running_loop().create_future()
        self._answer = bytearray()
        self.stopping = self.killed = False
        self._listen()

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        assert self._child.stdout is not None
        os.set_blocking(self._child.stdout.fileno(), False)
        loop.add_reader(self._child.stdout.fileno(), self._read)
        loop.add_reader(self._end, self._reap)

    async def answer(self) -> bytes:
        """Wait for the end. Cancelled, it kills the process and waits all the same."""
        try:
            await asyncio.shield(self._ended)
        finally:
            self._let_go()
            try:
                await self._gone()
            finally:
                self._close()
        return bytes(self._answer)

    async def stop(self) -> None:
        """Ask for the end; insist after a second."""
        self.stopping = True
        if not self._ended.done():
            with contextlib.suppress(BrokenPipeError):
                os.write(self._control, STOP)
            await self._gone()

    def _let_go(self) -> None:
        """With the control pipe closed nobody is listening: the outer process ends by itself."""
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    async def _gone(self) -> None:
        await asyncio.wait([self._ended], timeout=PATIENCE_SECONDS)
        if not self._ended.done():
            self.kill()
            await asyncio.wait([self._ended], timeout=PATIENCE_SECONDS)

    def kill(self) -> None:
        """End it by force; what it leaves dies with it, but for its cgroups."""
        self.killed = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)

    def _read(self) -> None:
        assert self._child.stdout is not None
        fd = self._child.stdout.fileno()
        try:
            chunk = os.read(fd, 1 << 20)
        except BlockingIOError:
            return
        self._answer += chunk
        if not chunk:
            asyncio.get_running_loop().remove_reader(fd)

    def _reap(self) -> None:
        if self._child.poll() is None or self._ended.done():
            return
        asyncio.get_running_loop().remove_reader(self._end)
        assert self._child.stdout is not None
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self._child.stdout.fileno(), 1 << 20):
                self._answer += chunk
        self._ended.set_result(None)

    def _close(self) -> None:
        loop = asyncio.get_running_loop()
        assert self._child.stdout is not None
        loop.remove_reader(self._child.stdout.fileno())
        loop.remove_reader(self._end)
        self._child.stdout.close()
        os.close(self._end)


def _memory_file(parts: Iterable[bytes]) -> int:
    """A pipe would have to be fed; a file in memory takes a request of any size at once."""
    fd = os.memfd_create("kadath-request")
    with os.fdopen(os.dup(fd), "wb") as file:
        file.writelines(parts)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
