"""First program in a sandbox: starts the relay to the broker, sets rlimits, becomes the organism.

Usage: launcher.py ENV_FD RELAY NPROC FSIZE NOFILE CPU -- ARGV... Few imports, for this runs once
an attempt. The variables come through a pipe: neither this process nor the relay shows them.
"""

import os
import resource
import sys

PORT = 8700
SOCKET = "/run/broker/gateway.sock"


def main() -> None:
    """Relay first (it must not see the variables), then the limits, then the organism."""
    env_fd, relay, *numbers = (int(text) for text in sys.argv[1:7])
    argv = sys.argv[8:]
    if relay:
        start_relay(env_fd)
    environ = read_environ(env_fd)
    limit(*numbers)
    try:
        os.execvpe(argv[0], argv, environ)
    except OSError as error:
        os.write(2, f"launcher: cannot start {argv[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def read_environ(fd: int) -> dict[bytes, bytes]:
    with open(fd, "rb") as pipe:
        content = pipe.read()
    pairs = (item.partition(b"=") for item in content.split(b"\0") if item)
    return {name: value for name, _, value in pairs}


def limit(processes: int, file_bytes: int, descriptors: int, cpu_seconds: int) -> None:
    # nproc is set in here because it then counts this sandbox only, not all of the user's.
    for which, value in (
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, descriptors),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, cpu_seconds),
    ):
        resource.setrlimit(which, (value, value))


def start_relay(env_fd: int) -> None:
    import _socket

    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", PORT))
    listener.listen(64)
    if os.fork():
        listener.close()
        return
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2, env_fd):
        os.dup2(null, fd)
    while True:
        serve(listener._accept()[0])  # type: ignore[attr-defined]


def serve(fd: int) -> None:
    import _socket
    import _thread

    client = _socket.socket(fileno=fd)
    broker = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        broker.connect(SOCKET)
        _thread.start_new_thread(pump, (client, broker))
        _thread.start_new_thread(pump, (broker, client))
    except (OSError, RuntimeError):  # no broker, or no thread left: the caller sees a closed line
        client.close()
        broker.close()


def pump(source, sink) -> None:  # type: ignore[no-untyped-def]
    """Copy one direction; the sockets close when both directions have dropped them."""
    try:
        while chunk := source.recv(65536):
            sink.sendall(chunk)
        sink.shutdown(1)
    except OSError:
        for end in (source, sink):  # unlike a close this wakes who reads the other direction
            try:
                end.shutdown(2)
            except OSError:
                continue


if __name__ == "__main__":
    main()
