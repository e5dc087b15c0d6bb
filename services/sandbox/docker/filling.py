"""Lays files into a slot's folders: hard links where the file system allows them, else copies."""

import os
import shutil
from pathlib import Path


def place(source: Path, target: Path) -> None:
    """A file or a whole tree; symbolic links stay links, and lead nowhere but inside."""
    if source.is_dir():
        _tree(str(source), str(target))
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    _file(str(source), str(target))


def _tree(source: str, target: str) -> None:
    os.makedirs(target, exist_ok=True)
    with os.scandir(source) as entries:
        for entry in entries:
            path = f"{target}/{entry.name}"
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), path)
            elif entry.is_dir(follow_symlinks=False):
                _tree(entry.path, path)
            elif entry.is_file(follow_symlinks=False):
                _file(entry.path, path)


def _file(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def write(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    target.chmod(0o644)


def weight_mb(source: Path | None) -> int:
    """What an inherited state takes in memory, rounded up to 64 MiB so that slots stay alike."""
    if source is None:
        return 0
    total = 0
    for folder, _, files in os.walk(source):
        total += 4096 + sum((os.lstat(f"{folder}/{f}").st_size + 8191) & ~4095 for f in files)
    return 64 * -(-total // (64 << 20)) if total > 4096 else 0
