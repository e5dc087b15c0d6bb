"""What an organism can see and reach: its files, the broker, nothing else."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from services.sandbox.local import InvalidSpec
from services.sandbox.port import Containers, Mount, Outcome, Spec
from tests.support.loop import go

Attempt = Callable[..., Outcome]
CANARY = "canary-4711"

SEEN = """
import os
print(sorted(os.environ.items()))
for pid in filter(str.isdigit, os.listdir('/proc')):
    for name in ('environ', 'cmdline'):
        try: print(pid, open(f'/proc/{pid}/{name}', 'rb').read())
        except OSError: pass
    try: print(os.listdir(f'/proc/{pid}/fd'))
    except OSError: pass
"""
REFUSED = """
import ctypes, errno, fcntl, os, _socket
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    return errno.errorcode[ctypes.get_errno()] if libc.syscall(*args) < 0 else 'allowed'
def attempted(do):
    try: do()
    except OSError as error: return errno.errorcode[error.errno]
    return 'allowed'
print({name: answer for name, answer in {
    'unshare': attempted(lambda: libc.unshare(0x10000000) and (_ for _ in ()).throw(
        OSError(ctypes.get_errno(), ''))),
    'mount': attempted(lambda: libc.mount(b'x', b'/tmp', b'tmpfs', 0, None) and (
        _ for _ in ()).throw(OSError(ctypes.get_errno(), ''))),
    'io_uring': call(425, 1, 0), 'clone3': call(435, 0, 0), 'pidfd_getfd': call(438, 0, 0, 0),
    'netlink': attempted(lambda: _socket.socket(16, 3, 0)),
    'vsock': attempted(lambda: _socket.socket(40, 1, 0)),
    'raw': attempted(lambda: _socket.socket(2, 3, 1)),
    'tcp': attempted(lambda: _socket.socket(2, 1, 0)),
    'pair': attempted(lambda: _socket.socketpair()),
    'tiocsti': attempted(lambda: fcntl.ioctl(0, 0x5412, b'x')),
    'chroot': attempted(lambda: os.chroot('/')),
}.items()})
"""
REACH = """
import _socket, errno
def reach(kind, address):
    try: _socket.socket(kind, _socket.SOCK_DGRAM if kind != 1 else 1).connect(address)
    except OSError as error: return errno.errorcode[error.errno]
    return 'reached'
print([reach(2, ('192.0.2.1', 53)), reach(2, ('169.254.169.254', 80))])
stream = _socket.socket(2, 1)
try: stream.connect(('127.0.0.1', PORT)); print('reached')
except OSError as error: print(errno.errorcode[error.errno])
"""
ASK = """
import http.client, os
for text in ('first', 'x' * 300000):
    line = http.client.HTTPConnection('127.0.0.1', 8700)
    line.request('POST', '/v1', text, {'Authorization': 'Bearer ' + os.environ['KADATH_TOKEN']})
    answer = line.getresponse()
    print(answer.status, answer.read().decode())
relay = [pid for pid in os.listdir('/proc') if pid.isdigit() and int(pid) not in (1, os.getpid())]
print(len(relay), [b'secret' in open(f'/proc/{pid}/environ', 'rb').read() for pid in relay])
os.execve('/usr/bin/cat', ['cat', '/proc/1/environ'], {})
"""


def test_no_variable_of_the_kernel_is_visible(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in the environment nor behind /proc, nor in a descriptor left open."""
    monkeypatch.setenv("KADATH_CANARY", CANARY)
    outcome = attempt(SEEN, env={"PATH": "/usr/bin", "ANSWER": "a=b"})
    assert outcome.stdout.startswith(
        b"[('ANSWER', 'a=b'), ('LC_CTYPE', 'C.UTF-8'), ('PATH', '/usr/bin')]"
    )
    assert CANARY.encode() not in outcome.stdout and b"KADATH" not in outcome.stdout


def test_the_kernel_s_surface_is_small(attempt: Attempt) -> None:
    """Namespaces, mounts, io_uring, foreign sockets and terminal tricks are refused."""
    if os.uname().machine not in ("x86_64", "aarch64"):
        pytest.skip("no syscall numbers for this machine")
    argv = ("/usr/bin/python3", "-I", "-c", REFUSED)
    answers = eval(attempt(argv=argv).stdout)
    allowed = {name for name, answer in answers.items() if answer == "allowed"}
    assert allowed == {"tcp", "pair"}
    assert (
        answers["clone3"] == "ENOSYS" and answers["vsock"] == answers["netlink"] == "EAFNOSUPPORT"
    )
    assert answers["tiocsti"] == answers["io_uring"] == "EPERM"


def test_identity_and_file_systems(attempt: Attempt) -> None:
    """No capability, no new privileges; only /state, /tmp and /dev/shm can be written."""
    outcome = attempt(
        "import os\n"
        "status = open('/proc/self/status').read()\n"
        "print(os.getuid(), os.getgid(), 'CapBnd:\\t0000000000000000' in status,\n"
        "      'NoNewPrivs:\\t1' in status, 'Seccomp:\\t2' in status)\n"
        "def can(path):\n"
        "    try: open(path + '/x', 'w')\n"
        "    except OSError: return False\n"
        "    return True\n"
        "places = ('/', '/usr', '/etc', '/kadath', '/input', '/signals', '/run', '/dev',\n"
        "          '/proc/sys/kernel', '/state', '/tmp', '/dev/shm')\n"
        "print([place for place in places if can(place)])\n"
        "def read(path):\n"
        "    try: return open(path).read()\n"
        "    except OSError: return ''\n"
        "secret = read('/proc/keys') + read('/proc/timer_list')\n"
        "print(secret == '', os.path.exists('/root'), os.path.exists('/home'))"
    )
    assert outcome.stdout.decode().splitlines() == [
        "65532 65532 True True True",
        "['/state', '/tmp', '/dev/shm']",
        "True False False",
    ]


def test_inputs_and_mounts_are_read_only(attempt: Attempt, home: Path) -> None:
    """Bytes from the kernel and folders of the host stand side by side under /input."""
    (home / "tree").mkdir()
    (home / "tree" / "organism.py").write_text("print('it runs')")
    outcome = attempt(
        "import os\nprint(open('/input/task.json').read(), open('/input/train/1').read())\n"
        "print(os.listdir('/input/elites'), os.access('/genome', os.W_OK))\n"
        "os.execv('/usr/bin/python3', ['python3', '/genome/organism.py'])",
        input={"task.json": b"{}", "train/1": b"one"},
        mounts=(
            Mount(home / "tree", "/genome"),
            Mount(home / "tree", "/input/elites"),
            Mount(home / "tree" / "organism.py", "/input/one.py"),
        ),
    )
    assert outcome.stdout == b"{} one\n['organism.py'] False\nit runs\n"


def test_without_a_state_there_is_nowhere_to_write(attempt: Attempt, home: Path) -> None:
    """A measuring program gets its cwd, its stdout, and no frozen files."""
    (home / "program").mkdir()
    outcome = attempt(
        "import os; print(os.getcwd(), os.path.exists('/state'))",
        writable=False,
        cwd="/program",
        mounts=(Mount(home / "program", "/program"),),
    )
    assert (outcome.stdout, outcome.frozen) == (b"/program False\n", None)


def test_there_is_no_network(attempt: Attempt) -> None:
    """No route leads anywhere, and the host's loopback is another one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        outcome = attempt(f"PORT = {listener.getsockname()[1]}\n{REACH}")
    assert outcome.stdout == b"['ENETUNREACH', 'ENETUNREACH']\nECONNREFUSED\n"


def test_the_broker_is_reached_through_the_relay(
    containers: Containers, spec: Callable[..., Spec], home: Path
) -> None:
    """Port 8700 leads to the attempt's own socket; the relay does not hold the token."""
    (home / "broker").mkdir()

    async def scene() -> Outcome:
        server = await asyncio.start_unix_server(_answer, home / "broker" / "gateway.sock")
        (home / "broker" / "gateway.sock").chmod(0o666)
        async with server:
            argv = ("/usr/bin/python3", "-I", "-u", "-c", ASK)
            environ = {"KADATH_TOKEN": "secret"}
            return await containers.run(spec(argv=argv, broker=home / "broker", env=environ))

    outcome = go(scene())
    assert outcome.log in (b"", b"cat: /proc/1/environ: Permission denied\n")
    assert outcome.stdout.decode().splitlines() == [
        "200 Bearer secret 5",
        "200 Bearer secret 300000",
        "1 [False]",
    ]


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in head)}
    body = await reader.readexactly(int(fields["content-length"]))
    text = f"{fields['authorization']} {len(body)}".encode()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
    with contextlib.suppress(ConnectionError):
        await writer.drain()
        writer.close()


def test_without_a_broker_the_port_is_closed(attempt: Attempt) -> None:
    """No relay is started for nothing."""
    outcome = attempt(
        "import _socket\ntry: _socket.socket(2, 1).connect(('127.0.0.1', 8700))\n"
        "except ConnectionRefusedError: print('refused')"
    )
    assert outcome.stdout == b"refused\n"


WRONG: dict[str, dict[str, object]] = {
    "name": {"name": "../x"},
    "argv": {"argv": ()},
    "input": {"input": {"../x": b""}},
    "mount": {"mounts": (Mount(Path("/etc"), "/state/etc"),)},
    "env": {"env": {"A=B": "c"}},
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_spec_is_the_caller_s_error(attempt: Attempt, what: str) -> None:
    """It raises before anything is started."""
    with pytest.raises(InvalidSpec):
        attempt(**WRONG[what])


def test_eight_attempts_at_once(containers: Containers, spec: Callable[..., Spec]) -> None:
    """They share nothing: each sees its own input and files only."""
    code = "import os; print(open('/input/n').read(), os.listdir('.')); open('mine', 'w')"

    async def scene() -> list[Outcome]:
        specs = [spec(code, name=f"a{n}", input={"n": str(n).encode()}) for n in range(8)]
        return list(await asyncio.gather(*map(containers.run, specs)))

    outputs = [outcome.stdout.decode() for outcome in go(scene())]
    assert outputs == [f"{n} []\n" for n in range(8)]
