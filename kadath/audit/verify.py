"""Verifies an exported run from its directory alone."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kadath.audit import ed25519, redecide
from schemas import CATALOGUE, BlobRef, Recorded, canonical, ids
from schemas.events.chain import ChainHeaded
from schemas.values.tree import Tree
from services.lineage.core import chain, references
from services.lineage.core.champion import winner
from services.lineage.core.view import View

MANIFEST = "export-manifest.json"
SIGNED_BY = ("public_key", "fingerprint", "signature")
PRODUCTS = ("champion/candidate.json",)  # what running the champion leaves; nothing reads it here
MARK = b', "event": '


@dataclass
class Report:
    """`problems` empty: the export is what it says. `signer` is known only by its fingerprint."""

    problems: list[str] = field(default_factory=list)
    signer: str = "unknown"
    fingerprint: str = ""
    files: int = 0
    events: int = 0
    blobs: int = 0
    head: str = ""
    redecided: redecide.Report | None = None

    @property
    def ok(self) -> bool:
        return not self.problems

    @property
    def verdict(self) -> str:
        if not self.ok:
            return f"damaged: {self.problems[0]}"
        return "verified" if self.signer == "known" else "consistent, signer unknown"


def verify(folder: Path, fingerprint: str | None = None) -> Report:
    """Check everything; stop early only where nothing after it could be trusted."""
    report = Report()
    manifest = _manifest(folder, report)
    if manifest is None:
        return report
    _signature(manifest, fingerprint, report)
    _files(folder, manifest, report)
    if report.ok:
        _content(folder, manifest, report)
    return report


def _manifest(folder: Path, report: Report) -> dict[str, Any] | None:
    try:
        content = (folder / MANIFEST).read_bytes()
        manifest = json.loads(content)
        if json.dumps(manifest, indent=1, sort_keys=True).encode() + b"\n" != content:
            report.problems.append(f"{MANIFEST} is not written as the exporter writes it")
        for name in ("run", "files", "chain", "log_sha256", *SIGNED_BY):
            manifest[name]
        return dict(manifest)
    except (OSError, ValueError, KeyError, TypeError) as error:
        report.problems.append(f"{MANIFEST} cannot be read: {error!r}")
        return None


def _signature(manifest: dict[str, Any], fingerprint: str | None, report: Report) -> None:
    content = {name: value for name, value in manifest.items() if name not in SIGNED_BY}
    try:
        public = bytes.fromhex(manifest["public_key"])
        signature = bytes.fromhex(manifest["signature"])
    except (TypeError, ValueError):
        report.problems.append("the signature is not hexadecimal")
        return
    if not ed25519.verify(public, canonical(content), signature):
        report.problems.append("the signature does not fit the manifest")
    report.fingerprint = hashlib.sha256(public).hexdigest()
    if manifest["fingerprint"] != report.fingerprint:
        report.problems.append("the manifest names another fingerprint than its key has")
    if fingerprint is not None:
        if fingerprint.lower() == report.fingerprint:
            report.signer = "known"
        else:
            report.problems.append(f"signed by {report.fingerprint}, not by {fingerprint}")


def _files(folder: Path, manifest: dict[str, Any], report: Report) -> None:
    """The same set of files, no link among them, every size and hash."""
    listed = {file["path"]: file for file in manifest["files"]}
    present = dict(_walk(folder, report))
    for path in sorted(listed.keys() - present.keys()):
        report.problems.append(f"{path} is missing")
    for path in sorted(present.keys() - listed.keys() - {MANIFEST, *PRODUCTS}):
        report.problems.append(f"{path} is not listed")
    for path in sorted(listed.keys() & present.keys()):
        content = present[path].read_bytes()
        if hashlib.sha256(content).hexdigest() != listed[path]["sha256"]:
            report.problems.append(f"{path} has changed")
    report.files = len(listed)


def _walk(folder: Path, report: Report) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            report.problems.append(f"{name} is a link or a special file")
        elif path.is_file():
            yield name, path


def _content(folder: Path, manifest: dict[str, Any], report: Report) -> None:
    """What the files say: chain, identities, blobs, champion, decisions."""
    try:
        log = read_lines(folder / "events.jsonl")
    except ValueError as error:
        report.problems.append(f"events.jsonl: {error}")
        return
    report.events = len(log)
    read = reader(folder)
    _chain(log, manifest, report)
    _identities(log, manifest["run"], report)
    try:
        report.blobs = len(references.closure((r.data for r in log), read))
        for name in sorted(path.name for path in (folder / "blobs").iterdir()):
            read(BlobRef(sha256=name, size=0))
    except (OSError, ValueError) as error:
        report.problems.append(f"blobs: {error}")
        return
    _champion(folder, log, read, report)
    report.redecided = redecide.redecide(log, read)
    for missed in report.redecided.mismatches:
        report.problems.append(f"{missed.by} about {missed.about}: {missed.detail}")


def read_lines(path: Path) -> list[Recorded]:
    """The log with the exact bytes of each body. Raises `ValueError` with the line's number."""
    lines = []
    for number, text in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        head, mark, rest = text.partition(MARK)
        if not mark or not rest.endswith(b"}"):
            raise ValueError(f"line {number} is not an event")
        body = rest[:-1]
        try:
            lines.append(Recorded.read(int(json.loads(head + b"}")["seq"]), body, CATALOGUE))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"line {number}: {error}") from error
    return lines


def reader(folder: Path) -> Callable[[BlobRef], bytes]:
    """Reads a blob of the export, checked. Raises `OSError` or `ValueError`."""

    def read(ref: BlobRef) -> bytes:
        content = (folder / "blobs" / ref.sha256).read_bytes()
        if hashlib.sha256(content).hexdigest() != ref.sha256:
            raise ValueError(f"blob {ref.sha256} has other content")
        return content

    return read


def _chain(lines: list[Recorded], manifest: dict[str, Any], report: Report) -> None:
    """Every recorded head again, and the manifest's own."""
    head, last = chain.START, 0
    heads = {last: head}
    for line in lines:
        if line.seq <= last:
            report.problems.append(f"event {line.seq} is out of order")
        head, last = chain.extend(head, line.body), line.seq
        heads[last] = head
        data = line.data
        if isinstance(data, ChainHeaded) and heads.get(data.up_to_seq) != data.head:
            report.problems.append(f"the chain up to {data.up_to_seq} differs from event {last}")
    found = {"head": head, "up_to_seq": last, "events": len(lines)}
    if manifest["chain"] != found:
        report.problems.append("the manifest names another head of the chain")
    report.head = head


def _identities(log: list[Recorded], run: str, report: Report) -> None:
    """Every event belongs to the run, and its id follows from its position."""
    counts: dict[tuple[str, str], int] = {}
    for recorded in log:
        key = (recorded.envelope.entity, recorded.entity_id)
        position = counts.get(key, 0)
        counts[key] = position + 1
        expected = ids.event_id(run, *key, position)
        if recorded.run != run or recorded.envelope.id != expected:
            report.problems.append(f"event {recorded.seq} is not the {position + 1}. of {key}")


def _champion(
    folder: Path, log: list[Recorded], read: Callable[[BlobRef], bytes], report: Report
) -> None:
    """The champion's directory holds the files of the registered genome."""
    view = View(log[0].run if log else "", read)
    for recorded in log:
        view.apply(recorded)
    best = winner(view)
    if best is None or best.genome not in view.genomes:
        return
    tree = Tree.model_validate_json(read(view.genomes[best.genome].files))
    replaced = {"run.py", "score.py", "benchmark.json", "goal.txt", "champion.json", "measure.py"}
    for file in tree.files:
        if file.path in replaced:
            continue
        target = folder / "champion" / file.path
        content = target.read_bytes() if target.is_file() else b""
        if hashlib.sha256(content).hexdigest() != file.sha256:
            report.problems.append(f"champion/{file.path} is not the registered genome's")
