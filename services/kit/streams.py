"""Streams, consumers and the server's permission file. Deployment applies, services bind."""

import json
from collections.abc import Iterable, Mapping

from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import NotFoundError

from schemas import subjects
from schemas.events import OWNER, SERVICES, SHARED

LEASE_SECONDS = 6.0
MINIMUM_API_LEVEL = 4  # server 2.14: older ones accept fences and silently ignore them
OTHER_USERS = ("operator", "follower", "reaper")
CALLERS = ("architect", "grader", "evolver")


def _stream(name: str, subject: str, max_bytes: int, max_age_seconds: int) -> dict[str, object]:
    return {
        "name": name,
        "subjects": [subject],
        "storage": "file",
        "retention": "limits",
        "discard": "new",
        "max_bytes": max_bytes,
        "max_age": max_age_seconds * 1_000_000_000,
        "max_msg_size": 128 * 1024,
        "compression": "s2",
        "deny_delete": True,
        "allow_direct": True,
        "duplicate_window": 120 * 1_000_000_000,
    }


async def apply(client: Client, max_bytes: int = 16 << 30) -> None:
    """Create or update the streams. Raises `RuntimeError` on a server that is too old."""
    await _require_api_level(client)
    events = {**_stream(subjects.EVENTS, subjects.ALL_EVENTS, max_bytes, 0), "allow_atomic": True}
    parked = _stream(subjects.PARKED, subjects.ALL_PARKED, 1 << 30, 30 * 86400)
    for config in (events, parked):
        await _ensure_stream(client, config)


async def _require_api_level(client: Client) -> None:
    reply = await client.request("$JS.API.INFO", b"", timeout=5)
    level = json.loads(reply.data).get("api", {}).get("level", 0)
    if level < MINIMUM_API_LEVEL:
        raise RuntimeError(f"nats-server API level {level} is below {MINIMUM_API_LEVEL}: use 2.14+")


async def _ensure_stream(client: Client, config: dict[str, object]) -> None:
    """nats-py's StreamConfig does not know every field, so the raw API is used."""
    name = config["name"]
    body = json.dumps(config).encode()
    raw = await client.request(f"$JS.API.STREAM.CREATE.{name}", body, timeout=10)
    reply = json.loads(raw.data)
    if reply.get("error", {}).get("err_code") == 10058:  # exists with another configuration
        raw = await client.request(f"$JS.API.STREAM.UPDATE.{name}", body, timeout=10)
        reply = json.loads(raw.data)
    if "error" in reply:
        raise RuntimeError(f"stream {name}: {reply['error']['description']}")


async def apply_consumer(js: JetStreamContext, name: str, subject: str, slots: int) -> None:
    """A fresh durable pull consumer that starts at the old one's acknowledgement floor.

    Only whoever knows that no other holder lives may call this: it ends their leases.
    """
    floor = 0
    try:
        floor = (await js.consumer_info(subjects.EVENTS, name)).ack_floor.stream_seq
        await js.delete_consumer(subjects.EVENTS, name)
    except NotFoundError:
        pass
    config = ConsumerConfig(
        durable_name=name,
        filter_subject=subject,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=LEASE_SECONDS,
        max_ack_pending=max(slots * 4, 64),
        max_deliver=-1,
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE if floor else DeliverPolicy.ALL,
        opt_start_seq=floor + 1 if floor else None,
    )
    await js.add_consumer(subjects.EVENTS, config)


def permissions(user: str, consumers: Iterable[str] = ()) -> dict[str, object]:
    """What `user` may publish and subscribe, derived from who owns which entity.

    `consumers` are the user's own; a NATS wildcard cannot match a prefix of their names.
    """
    if user == "operator":
        return _permissions(_operating(), ["kadath.evt.>", "kadath.live.>"], user)
    if user == "follower":
        return _permissions([*_reading(), *_following()], [], user)
    if user == "reaper":
        return _permissions(["$JS.API.STREAM.PURGE.>", *_reading()], [], user)
    return _permissions([*_writing(user, consumers), *_reading()], _listening(user), user)


def _permissions(publish: list[str], subscribe: list[str], user: str) -> dict[str, object]:
    own_inbox = f"{subjects.inbox(user)}.>"
    return {
        "publish": {"allow": publish},
        "subscribe": {"allow": [own_inbox, *subscribe]},
        "allow_responses": {"max": 1, "ttl": "10m"},
    }


def _writing(service: str, consumers: Iterable[str]) -> list[str]:
    owned = [f"kadath.evt.*.{entity}.>" for entity, owner in OWNER.items() if owner == service]
    shared = [f"kadath.evt.*.{e}.{service}.>" for e, who in SHARED.items() if service in who]
    calls = [subjects.rpc("broker", "complete")] if service in CALLERS else []
    if service == "sandbox":
        calls.append(subjects.rpc("broker", "token"))
    leases = [
        subject
        for name in consumers
        for subject in (
            f"$JS.API.CONSUMER.MSG.NEXT.{subjects.EVENTS}.{name}",
            f"$JS.ACK.{subjects.EVENTS}.{name}.>",
        )
    ]
    return [*owned, *shared, *calls, *leases, f"kadath.parked.{service}.>", "kadath.live.>"]


def _reading() -> list[str]:
    events = subjects.EVENTS
    return [
        "$JS.API.INFO",
        f"$JS.API.STREAM.INFO.{events}",
        f"$JS.API.DIRECT.GET.{events}",
        f"$JS.API.DIRECT.GET.{events}.>",
    ]


def _operating() -> list[str]:
    """Commands, deployment, reading. Purging is the reaper's alone."""
    return [
        "kadath.cmd.>",
        "$JS.API.INFO",
        "$JS.API.STREAM.CREATE.*",
        "$JS.API.STREAM.UPDATE.*",
        "$JS.API.STREAM.INFO.*",
        "$JS.API.STREAM.MSG.GET.*",
        "$JS.API.DIRECT.GET.>",
        "$JS.API.CONSUMER.>",
        "$JS.FC.>",
    ]


def _following() -> list[str]:
    """An ordered consumer is made, asked about and removed by whoever follows."""
    events = subjects.EVENTS
    return [
        f"$JS.API.CONSUMER.CREATE.{events}",
        f"$JS.API.CONSUMER.CREATE.{events}.>",
        f"$JS.API.CONSUMER.INFO.{events}.>",
        f"$JS.API.CONSUMER.DELETE.{events}.>",
        "$JS.FC.>",
    ]


def _listening(service: str) -> list[str]:
    rpc = ["kadath.rpc.broker.>"] if service == "broker" else []
    return [f"kadath.cmd.{service}.>", *rpc]


def permission_file(public_keys: Mapping[str, str], consumers: Mapping[str, Iterable[str]]) -> str:
    """The `authorization` block of the server's configuration."""
    users = [_user(name, public_keys[name], consumers.get(name, ())) for name in all_users()]
    return "authorization {\n  users = [\n" + "\n".join(users) + "\n  ]\n}\n"


def all_users() -> Iterable[str]:
    return (*SERVICES, *OTHER_USERS)


def _user(name: str, key: str, consumers: Iterable[str]) -> str:
    allowed = json.dumps(permissions(name, consumers))
    return f"    # {name}\n    {{ nkey: {key}, permissions: {allowed} }}"
