"""One leased stay of an attempt: start, run, take in what it left, restart or finish."""

import asyncio
import logging
import shutil

from pydantic import TypeAdapter

from schemas import BlobRef, Recorded, TreeRef, canonical, ref_of
from schemas.commands import Refused
from schemas.commands.complete import Token, TokenFor
from schemas.events.attempt import AttemptRestarted
from schemas.events.evidence import EvidenceFrozen
from schemas.values.tree import Tree
from services.kit import trees
from services.kit.engine import Context
from services.kit.errors import KitError
from services.sandbox.core import attempt as rules
from services.sandbox.core import freezing
from services.sandbox.core.attempt import Ended
from services.sandbox.core.view import Attempt, View
from services.sandbox.effects import stay as stays
from services.sandbox.effects.backends import Backend, layer_of
from services.sandbox.effects.control import backend_of
from services.sandbox.effects.stay import Stay
from services.sandbox.port import Frozen, Outcome

logger = logging.getLogger(__name__)

TOKEN: TypeAdapter[Token | Refused] = TypeAdapter(Token | Refused)


class Unfit(RuntimeError):
    """The machine cannot run the attempt as it was locked: no failure of the agent."""


def due(view: View, recorded: Recorded) -> bool:
    """Each queueing and each restart is worth one stay."""
    attempt = view.attempts.get(recorded.entity_id)
    if attempt is None or attempt.finished is not None or view.terminal:
        return False
    data = recorded.data
    return attempt.restart == (data.restart if isinstance(data, AttemptRestarted) else 0)


async def run_attempt(context: Context, recorded: Recorded) -> None:
    """Until this stay ends: by itself, by its deadline, by a stop, or by a crash."""
    slots: asyncio.Semaphore = context.resources["slots"]
    await asyncio.sleep(rules.pause(context.view(recorded.run).attempts[recorded.entity_id]))
    async with slots:
        if due(context.view(recorded.run), recorded):
            await _one_stay(context, recorded)


async def _one_stay(context: Context, recorded: Recorded) -> None:
    await _decide(context, recorded, rules.cancel)
    await _decide(context, recorded, lambda v, a, now: rules.start(v, a, now, "local"))
    view: View = context.view(recorded.run)
    attempt = view.attempts[recorded.entity_id]
    if attempt.started is None:  # cancelled, or a lost lease was recorded and asks for a new stay
        return
    ended = await _ended_stay(context, view, attempt, recorded)
    await _decide(context, recorded, lambda v, a, now: rules.end(v, a, now, ended))


async def _ended_stay(context: Context, view: View, attempt: Attempt, recorded: Recorded) -> Ended:
    """What became of it. Trouble of the machine, such as a full disk, is its own kind of end."""
    assert attempt.started is not None
    name = f"{recorded.entity_id}.{attempt.restart}"
    spool = context.platform.cache / "spool" / f"{recorded.run}.{name}"
    stay = Stay(name, attempt.queued, attempt.started, spool)
    try:
        outcome = await _run(context, view, stay)
        return await _take_in(context, stay, outcome)
    except (OSError, KitError, Unfit) as error:
        logger.warning("%s: %s", name, error, exc_info=True)
        detail = f"{type(error).__name__}: {error}"
        return Ended("machine", detail, None, False, 0.0, 0.0)
    finally:
        shutil.rmtree(spool, ignore_errors=True)


async def _decide(context: Context, recorded: Recorded, rule) -> None:  # type: ignore[no-untyped-def]
    about = recorded.entity_id
    await context.transact(
        recorded.run, "sandbox/attempt", lambda view, now: rule(view, about, now), about=about
    )


async def _run(context: Context, view: View, stay: Stay) -> Outcome:
    containers = backend_of(context, view)
    await _check_layer(view, containers)
    if stay.queued.purpose == "measurement":
        return await containers.run(await stays.measurement(context, view, stay))
    token = await _token(context, view, stay)
    return await containers.run(await stays.organism(context, view, stay, token))


async def _check_layer(view: View, containers: Backend) -> None:
    """A kernel that was started again may find another image: that is not the locked runtime."""
    probe = await containers.probe()
    if not probe.ok:
        raise Unfit(f"{probe.reason}. {probe.install_hint}".rstrip(". "))
    locked = view.locked.runtime.layer_sha if view.locked else None
    if locked is not None and locked != layer_of(containers):
        raise Unfit("the layer or the image below the genomes is not the one that was locked")


async def _token(context: Context, view: View, stay: Stay) -> Token:
    queued = stay.queued
    request = TokenFor(
        run=view.run,
        attempt=queued.attempt,
        agent=queued.agent or "trial",
        genome=queued.genome or "",
        purpose=queued.purpose,
        epoch=view.epoch.epoch if view.epoch else None,
        restart=stay.started.restart,
        expires_at=stay.started.deadline_at.timestamp(),
    )
    reply = TOKEN.validate_json(await context.call("broker", "token", request, timeout=30))
    if isinstance(reply, Refused):
        raise Unfit(reply.reason)
    return reply


async def _take_in(context: Context, stay: Stay, outcome: Outcome) -> Ended:
    """Blobs first, then the facts that name them."""
    log = await context.blobs.put(outcome.log, "text/plain") if outcome.log else None
    if stay.queued.purpose == "measurement":
        return await _measured(context, outcome, log)
    frozen = outcome.frozen
    if frozen is None:
        return _ended(outcome, False, log)
    for file in frozen.files:
        await context.blobs.adopt(stay.spool / file.sha256, file.sha256)
    if stay.queued.purpose == "epoch":
        return await _epoch(context, stay, outcome, frozen, log)
    return _side(context, stay, outcome, frozen, log)


async def _measured(context: Context, outcome: Outcome, log: BlobRef | None) -> Ended:
    """The whole standard output is the answer; the grader judges whether it is JSON."""
    clean = outcome.reason == "exit" and outcome.exit_code == 0 and not outcome.stdout_truncated
    result = await context.blobs.put(outcome.stdout) if clean else None
    return _ended(outcome, clean, log)._replace(result=result)


def _side(
    context: Context, stay: Stay, outcome: Outcome, frozen: Frozen, log: BlobRef | None
) -> Ended:
    """A reflection's product is its mutation, a trial's is that it started."""
    name = "mutation.json" if stay.queued.purpose == "reflection" else "result.json"
    found = freezing.find(frozen.files, name)
    if found is None or found.size > freezing.CANDIDATE_BYTES * 8:
        return _ended(outcome, False, log)
    content = context.blobs.read(found.sha256)
    return _ended(outcome, freezing.valid_object(content), log)._replace(result=ref_of(content))


async def _epoch(
    context: Context, stay: Stay, outcome: Outcome, frozen: Frozen, log: BlobRef | None
) -> Ended:
    """Evidence is sealed whatever the end was; a failed attempt still shows what it did."""
    state_in = stay.queued.state_in
    before = trees.get_tree(context.blobs, state_in) if state_in else Tree(files=())
    parts = freezing.split(before, frozen.files, frozen.deleted)
    evidence_ref = await trees.put_tree(context.blobs, parts.evidence)
    state_ref = await trees.put_tree(context.blobs, parts.state)
    result = _content(context, frozen, "result.json")
    payload = await _payload(context, stay, frozen, evidence_ref, parts.evidence)
    valid = result is not None and freezing.valid_result(result)
    return _ended(outcome, valid, log)._replace(
        state_out=state_ref,
        result=ref_of(result) if result is not None else None,
        evidence=ref_of(payload),
        blobs=(payload,),
    )


async def _payload(
    context: Context, stay: Stay, frozen: Frozen, manifest: TreeRef, tree: Tree
) -> bytes:
    candidate = _content(context, frozen, "candidate.json")
    if candidate is not None and not freezing.valid_candidate(candidate):
        candidate = None
    activity = _content(context, frozen, "activity.jsonl") or b""
    rejected = canonical([r.model_dump() for r in frozen.rejected])
    frozen_event = EvidenceFrozen(
        attempt=stay.queued.attempt,
        agent=stay.queued.agent or "",
        genome=stay.queued.genome or "",
        manifest=manifest,
        files=len(tree.files),
        bytes=sum(file.size for file in tree.files),
        new=sum(file.mark != "inherited" for file in tree.files),
        activity=freezing.activity_lines(activity),
        candidate=ref_of(candidate) if candidate is not None else None,
        rejected=await context.blobs.put(rejected) if frozen.rejected else None,
        rejected_count=len(frozen.rejected) + frozen.omitted,
    )
    return canonical(frozen_event)


def _content(context: Context, frozen: Frozen, path: str) -> bytes | None:
    found = freezing.find(frozen.files, path)
    if found is None or found.size > freezing.CANDIDATE_BYTES:
        return None
    return context.blobs.read(found.sha256)


def _ended(outcome: Outcome, valid: bool, log: BlobRef | None) -> Ended:
    return Ended(
        reason=outcome.reason,
        detail=outcome.detail or (f"exit code {outcome.exit_code}" if not valid else ""),
        exit_code=outcome.exit_code,
        valid=valid,
        wall_seconds=outcome.wall_seconds,
        cpu_seconds=outcome.cpu_seconds,
        log=log,
    )
