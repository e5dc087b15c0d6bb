"""The manifest of an export: every file with size and hash, the chain's head, the signature."""

import hashlib
import json
from pathlib import Path

from schemas import canonical
from services.lineage.core.view import View
from services.lineage.exporting.signing import sign

NAME = "export-manifest.json"
FORMAT = 1


def write_manifest(folder: Path, view: View, secret: bytes) -> bytes:
    """Describe and sign everything below `folder`; return the manifest's bytes."""
    files = [_described(folder, path) for path in sorted(folder.rglob("*")) if path.is_file()]
    content: dict[str, object] = {
        "format": FORMAT,
        "run": view.run,
        "chain": {"head": view.chain_head, "up_to_seq": view.seq, "events": view.count},
        "complete": view.completed is not None,
        "log_sha256": _sha256(folder / "events.jsonl"),
        "files": files,
    }
    signed = {**content, **sign(secret, canonical(content))._asdict()}
    text = json.dumps(signed, indent=1, sort_keys=True).encode() + b"\n"
    (folder / NAME).write_bytes(text)
    return text


def _described(folder: Path, path: Path) -> dict[str, object]:
    relative = path.relative_to(folder).as_posix()
    return {"path": relative, "size": path.stat().st_size, "sha256": _sha256(path)}


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
