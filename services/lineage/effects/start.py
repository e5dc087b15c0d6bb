"""What lineage runs beside its reactions: the projector over the log, and the read API."""

from collections.abc import Awaitable, Callable

from nats.aio.msg import Msg

from schemas import CATALOGUE, Recorded, subjects
from services.kit.engine import Context
from services.kit.follower import Follower
from services.kit.log import direct_batch, sequence_of
from services.kit.projections import BATCH, Projector
from services.lineage.effects.repository import Repository
from services.lineage.projections.projection import open_pool, projection
from services.lineage.web.app import serve


async def start(context: Context) -> Callable[[], Awaitable[None]]:
    """Bring the read models up to the log, then follow it and answer questions."""
    pool = await open_pool(context.platform.dsn["lineage"])
    projector = Projector(pool, (projection(context.blobs.get),))
    follower = context.engine.follower
    assert follower is not None
    await projector.start(follower.seq)
    await _catch_up(context, follower, projector)
    context.resources["pool"], context.resources["projector"] = pool, projector
    api = await serve(context, pool, projector)
    context.resources["api_url"], context.resources["api_token"] = api.url, api.token

    async def close() -> None:
        await api.close()
        await projector.close()
        await pool.close()
        _close_repositories(context)

    return close


async def _catch_up(context: Context, follower: Follower, projector: Projector) -> None:
    """Listeners hear only what comes; what was there before is read. No await may stand between
    the last comparison and the listener, or an event could slip through."""
    position = projector.seq
    while position < follower.seq:
        messages = await direct_batch(context.client, subjects.ALL_EVENTS, position + 1, BATCH)
        if not messages:
            break
        position = sequence_of(messages[-1])
        batch = [recorded for recorded in map(_readable, messages) if recorded]
        if batch:
            await projector.apply(batch)
    context.engine.listeners.append(projector.offer)


def _readable(message: Msg) -> Recorded | None:
    """A newer kernel's event stays in the log; the follower has reported it."""
    try:
        return Recorded.read(sequence_of(message), message.data, CATALOGUE)
    except (ValueError, TypeError):
        return None


def _close_repositories(context: Context) -> None:
    opened: dict[str, Repository] = context.resources.get("repositories", {})
    for repository in opened.values():
        repository.close()
