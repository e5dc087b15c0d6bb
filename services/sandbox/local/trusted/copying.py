"""The inherited state as a copy, where this kernel allows no overlay in a user namespace."""

import os

Baseline = dict[str, tuple[int, int]]


def copy_tree(source: str, target: str) -> Baseline:
    """Copy regular files and folders; the inode and change time of each copy, by path.

    Nothing inside a sandbox can set a change time back, so an equal pair means an equal file.
    """
    baseline: Baseline = {}
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for entry in os.scandir(f"{source}/{folder}"):
            path = f"{folder}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                os.mkdir(f"{target}/{path}", 0o755)
                waiting.append(f"{path}/")
            elif entry.is_file(follow_symlinks=False):
                baseline[path] = _copy(f"{source}/{path}", f"{target}/{path}")
    return baseline


def _copy(source: str, target: str) -> tuple[int, int]:
    read = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
    mode = os.fstat(read).st_mode & 0o777 | 0o600
    write = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        while chunk := os.read(read, 1 << 20):
            os.write(write, chunk)
        stat = os.fstat(write)
    finally:
        os.close(read)
        os.close(write)
    return stat.st_ino, stat.st_ctime_ns


def listing(root: str, under: str) -> list[str]:
    """The regular files of a lower layer at or under a path, as relative paths."""
    files: list[str] = []
    waiting = [under]
    while waiting:
        path = waiting.pop()
        full = f"{root}/{path}"
        if os.path.islink(full):
            continue
        if os.path.isdir(full):
            waiting += [f"{path}/{name}" for name in os.listdir(full)]
        elif os.path.isfile(full):
            files.append(path)
    return files
