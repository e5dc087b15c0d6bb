"""What is locked at approval, how its hashes are computed, and what counts as a violation."""

from collections.abc import Mapping
from typing import NamedTuple

from schemas import BlobRef, canonical, digest
from schemas.canonical import ref_of
from schemas.events.run import RunLocked, RunRequested
from schemas.values.benchmark import Benchmark
from schemas.values.runtime import Runtime
from services.scheduler.core.view import View

FORMULA_VERSION = "1"
KERNEL_VERSION = "1"


class Locks(NamedTuple):
    """The locked event and the bytes it refers to."""

    event: RunLocked
    blobs: tuple[bytes, ...]


class Violation(NamedTuple):
    lock: str
    expected: str
    actual: str


def lock(view: View, request: RunRequested, resolved: Mapping[str, str]) -> Locks:
    """Lock objective, benchmark, tools and runtime, out of what the preflight found."""
    assert view.preflight is not None
    benchmark_ref = view.preflight.benchmark
    benchmark = Benchmark.model_validate_json(view.read(benchmark_ref))
    manifest = canonical(
        {"tools": benchmark.tools, "capabilities": request.capabilities, "hosts": request.hosts}
    )
    runtime = runtime_of(request, resolved)
    objective_sha = objective_of(request, benchmark_ref)
    runtime_sha = digest(canonical(runtime))
    event = RunLocked(
        objective_sha=objective_sha,
        benchmark=benchmark_ref,
        tool_manifest=ref_of(manifest),
        runtime=runtime,
        runtime_sha=runtime_sha,
        formula_version=FORMULA_VERSION,
        locks_sha=locks_of(objective_sha, benchmark_ref, ref_of(manifest), runtime_sha),
    )
    return Locks(event, (manifest,))


def runtime_of(request: RunRequested, resolved: Mapping[str, str]) -> Runtime:
    """Equal on every machine: no path, host name or core count goes in.

    The address of the model server is not part of it; a moved server is the same model.
    """
    return Runtime(
        executor=request.executor,
        models=request.models.model_copy(update={"api_base": None}),
        limits=request.limits,
        seed_sha=resolved["seed_sha"],
        layer_sha=resolved["layer_sha"],
        kernel_version=KERNEL_VERSION,
    )


def objective_of(request: RunRequested, benchmark: BlobRef) -> str:
    goal = {"goal": request.goal, "hint": request.criterion_hint, "benchmark": benchmark.sha256}
    return digest(canonical(goal))


def locks_of(objective: str, benchmark: BlobRef, manifest: BlobRef, runtime: str) -> str:
    return digest(canonical([objective, benchmark.sha256, manifest.sha256, runtime]))


def violation(view: View) -> Violation | None:
    """The first lock that no longer matches what the log recorded, or None.

    Checked before every phase: the stored bytes themselves are hashed again.
    """
    locked, request = view.locked, view.request
    if locked is None or request is None:
        return None
    for name, ref in (("benchmark", locked.benchmark), ("tool_manifest", locked.tool_manifest)):
        actual = _stored(view, ref)
        if actual != ref.sha256:
            return Violation(name, ref.sha256, actual)
    objective = objective_of(request, locked.benchmark)
    if objective != locked.objective_sha:
        return Violation("objective", locked.objective_sha, objective)
    runtime = digest(canonical(locked.runtime))
    if runtime != locked.runtime_sha:
        return Violation("runtime", locked.runtime_sha, runtime)
    return None


def _stored(view: View, ref: BlobRef) -> str:
    try:
        return digest(view.read(ref))
    except KeyError:
        return "missing"
    except ValueError:
        return "damaged"
