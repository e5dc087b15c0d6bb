"""The only module that spells a NATS subject."""

from typing import NamedTuple

EVENTS = "KADATH_EVENTS"
PARKED = "KADATH_PARKED"
ALL_EVENTS = "kadath.evt.>"
ALL_PARKED = "kadath.parked.>"


class EntityKey(NamedTuple):
    """One entity of one run: the unit of consistency."""

    run: str
    entity: str
    entity_id: str


def event(run: str, entity_id: str, kind: str) -> str:
    """`kadath.evt.<run>.<entity>.<entity_id>.<event>`; `kind` is `<entity>.<event>`."""
    entity, _, name = kind.partition(".")
    return f"kadath.evt.{run}.{entity}.{entity_id}.{name}"


def entity(key: EntityKey) -> str:
    """Every event of one entity: the subject of its fence."""
    return f"kadath.evt.{key.run}.{key.entity}.{key.entity_id}.>"


def of_run(run: str) -> str:
    return f"kadath.evt.{run}.>"


def of_kind(kind: str) -> str:
    """Every event of one type, over all runs."""
    name, _, event_name = kind.partition(".")
    return f"kadath.evt.*.{name}.*.{event_name}"


def command(service: str, name: str) -> str:
    return f"kadath.cmd.{service}.{name}"


def rpc(service: str, name: str) -> str:
    return f"kadath.rpc.{service}.{name}"


def parked(service: str, consumer: str) -> str:
    return f"kadath.parked.{service}.{consumer}"


def live(run: str, topic: str) -> str:
    return f"kadath.live.{run}.{topic}"


def inbox(user: str) -> str:
    """The only reply prefix that `user` may subscribe to."""
    return f"_INBOX.{user}"
