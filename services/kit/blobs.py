"""Content by SHA-256. Bytes are written before the event that names them."""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Protocol

from schemas import BlobRef, ref_of


class MissingBlob(KeyError):
    """A reference without bytes: the log named it, so the store has lost it."""


class DamagedBlob(ValueError):
    """The bytes no longer have the hash they are stored under."""


class Blobs(Protocol):
    """The store's port; the same contract suite runs on every implementation."""

    async def put(self, content: bytes, media: str = "application/json") -> BlobRef: ...
    def get(self, ref: BlobRef) -> bytes: ...
    def read(self, sha256: str) -> bytes: ...
    def has(self, sha256: str) -> bool: ...
    def path(self, sha256: str) -> Path: ...
    async def adopt(self, file: Path, sha256: str) -> None: ...


class FileBlobs:
    """One file a blob under `root/ab/<hash>`, mode 0644; complete or absent, never partial."""

    def __init__(self, root: Path, durable: bool = False) -> None:
        self._root = root
        self._durable = durable
        self._made: set[str] = set()
        root.mkdir(parents=True, exist_ok=True)

    async def put(self, content: bytes, media: str = "application/json") -> BlobRef:
        ref = ref_of(content, media)
        if not self.has(ref.sha256):
            if len(content) > 1 << 20:
                await asyncio.to_thread(self._write, ref.sha256, content)
            else:
                self._write(ref.sha256, content)
        return ref

    def get(self, ref: BlobRef) -> bytes:
        return self.read(ref.sha256)

    def read(self, sha256: str) -> bytes:
        """The bytes, checked. Raises `MissingBlob` or `DamagedBlob`."""
        try:
            content = self.path(sha256).read_bytes()
        except FileNotFoundError:
            raise MissingBlob(sha256) from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise DamagedBlob(sha256)
        return content

    def has(self, sha256: str) -> bool:
        return self.path(sha256).exists()

    def path(self, sha256: str) -> Path:
        return self._root / sha256[:2] / sha256

    async def adopt(self, file: Path, sha256: str) -> None:
        """Move a file whose hash was taken by the freezer into the store."""
        target = self._folder(sha256) / sha256
        if target.exists():
            file.unlink()
            return
        os.chmod(file, 0o644)
        os.replace(file, target)

    def _folder(self, sha256: str) -> Path:
        folder = self._root / sha256[:2]
        if sha256[:2] not in self._made:
            folder.mkdir(exist_ok=True)
            self._made.add(sha256[:2])
        return folder

    def _write(self, sha256: str, content: bytes) -> None:
        folder = self._folder(sha256)
        temporary = folder / f".{sha256}.{os.getpid()}.{id(content)}"
        with open(temporary, "wb") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(content)
            if self._durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, folder / sha256)
