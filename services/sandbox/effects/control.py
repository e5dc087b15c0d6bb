"""Start-up, stop and preflight of the machine's sandboxes."""

import asyncio
from collections.abc import Awaitable, Callable

from schemas import Draft, Recorded
from schemas.events.preflight import PreflightCheckFailed, PreflightCheckPassed
from services.kit.engine import Context
from services.sandbox.core.view import View
from services.sandbox.effects.backends import Backend, Backends, Ground, layer_of
from services.sandbox.effects.places import Places


async def start(context: Context) -> Callable[[], Awaitable[None]]:
    """Sweep what an earlier kernel left, then be ready."""
    platform = context.platform
    user = (platform.sandbox_uid, platform.sandbox_gid) if platform.sandbox_uid else None
    backends = Backends(Ground(platform.cache, platform.sockets, user, platform.slots))
    context.resources["backends"] = backends
    context.resources["places"] = Places(context.blobs, platform.cache, user)
    context.resources["slots"] = asyncio.Semaphore(platform.slots)
    await backends.sweep()
    return backends.close


def backend_of(context: Context, view: View) -> Backend:
    """The backend that the run asked for."""
    backends: Backends = context.resources["backends"]
    return backends.of(view.request.executor if view.request else "local")


def stop_due(view: View, recorded: Recorded) -> bool:
    return view.stopping


async def stop_attempts(context: Context, recorded: Recorded) -> None:
    """Kill what runs; each session then records how its attempt ended."""
    view: View = context.view(recorded.run)
    for name, attempt in list(view.attempts.items()):
        if attempt.started is not None and attempt.finished is None:
            await backend_of(context, view).stop(f"{name}.{attempt.restart}")


def preflight_due(view: View, recorded: Recorded) -> bool:
    return view.locked is None and view.preflight == recorded.data


async def preflight(context: Context, recorded: Recorded) -> None:
    """Isolation must be real: without it the run is refused with the package to install."""
    backend = backend_of(context, context.view(recorded.run))
    probe = await backend.probe()
    event: PreflightCheckPassed | PreflightCheckFailed
    if probe.ok:
        gaps = "; ".join(f"{gap.limit}: {gap.why}" for gap in probe.not_enforced)
        event = PreflightCheckPassed(
            check="isolation",
            resolved={"layer_sha": layer_of(backend), **backend.identity()},
            detail=f"not enforced: {gaps or 'nothing'}"[:4000],
        )
    else:
        reason = f"{probe.reason} {probe.install_hint}".strip()
        event = PreflightCheckFailed(check="isolation", reason=reason[:4000])
    await context.transact(
        recorded.run, "sandbox/preflight", lambda view, now: [Draft("sandbox", event)]
    )
