"""Registration as given, when, then: facts in, events out."""

import json
from datetime import UTC, datetime
from typing import Any

from schemas import Actor, BlobRef, Draft, Envelope, Event, Recorded, canonical, digest, ref_of
from schemas.events.attempt import AttemptFinished
from schemas.events.birth import BirthMutationDrafted
from schemas.events.chain import ChainHeaded
from schemas.events.genesis import GenesisVariantsDrafted, Variant
from schemas.events.genome import GenomeCommitted, GenomeRejected, GenomeStaged
from schemas.events.preflight import PreflightCheckPassed
from schemas.events.run import RunLocked
from schemas.values.runtime import Limits, Models, Runtime
from schemas.values.tree import Tree, TreeFile
from services.lineage.core import phase_heads, registration
from services.lineage.core.view import View

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FILES = {"SYSTEM_PROMPT.md": b"seed\n", "organism.py": b"pass\n", "solver.py": b"V = 1\n"}


class Given:
    """A fold in memory with its own blobs."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.view = View("r1", lambda ref: self.blobs[ref.sha256])
        self.seq = 0

    def put(self, content: bytes) -> BlobRef:
        ref = ref_of(content)
        self.blobs[ref.sha256] = content
        return ref

    def event(self, entity_id: str, data: Event, epoch: int | None = None) -> None:
        self.seq += 1
        envelope = Envelope(
            id=str(self.seq), type=data.type, v=data.v, run="r1", epoch=epoch, entity=data.entity(),
            entity_id=entity_id, occurred_at=NOW, seen=0, by="test",
            actor=Actor(kind="service", name="test"), data=data,
        )  # fmt: skip
        self.view.apply(Recorded(self.seq, envelope))

    def decided(self) -> list[Event]:
        """What registration decides now; it happens, too."""
        drafts: list[Draft] = registration.decide(self.view, "main", NOW)
        for draft in drafts:
            for content in draft.blobs:
                self.put(content)
            self.event(draft.entity_id, draft.data, draft.epoch)
        return [draft.data for draft in drafts]

    def birth(self, proposal: str, **mutation: Any) -> None:
        source = self.put(json.dumps({"action": "mutate", **mutation}).encode())
        parent = next(iter(self.view.genomes))
        event = BirthMutationDrafted(
            agent="a0009", tries=0, proposal=proposal, parent_genome=parent, mutation=source,
            call="c",
        )  # fmt: skip
        self.event("e001-a0009", event, 1)


def based() -> Given:
    given = Given()
    files = [
        TreeFile(path=path, size=len(text), sha256=given.put(text).sha256)
        for path, text in sorted(FILES.items())
    ]
    tree = given.put(canonical(Tree(files=tuple(files))))
    found = {"seed_sha": tree.sha256, "base": "0" * 40}
    given.event("lineage", PreflightCheckPassed(check="seed", resolved=found))
    return given


def lock(given: Given) -> None:
    models = Models(specialist="m", organism="m")
    runtime = Runtime(
        executor="local", models=models, limits=Limits(), seed_sha="0" * 64, layer_sha="0" * 64,
        kernel_version="1",
    )  # fmt: skip
    ref = ref_of(b"{}")
    locked = RunLocked(
        objective_sha="0" * 64, benchmark=ref, tool_manifest=ref, runtime=runtime,
        runtime_sha=digest(canonical(runtime)), formula_version="1", locks_sha="0" * 64,
    )  # fmt: skip
    given.event("main", locked)


def variants(given: Given, *prompts: str) -> None:
    texts = {f"g-a{n:04d}": text for n, text in enumerate(prompts, start=1)}
    rows = tuple(
        Variant(slot=n, proposal=name, prompt_sha=digest(text.encode()))
        for n, (name, text) in enumerate(texts.items(), start=1)
    )
    prompts_ref = given.put(canonical(texts))
    given.event("main", GenesisVariantsDrafted(batch=1, variants=rows, prompts=prompts_ref))


def born() -> Given:
    given = based()
    lock(given)
    variants(given, "one\n", "two\n")
    given.decided()
    return given


def test_nothing_is_registered_before_the_lock() -> None:
    given = based()
    variants(given, "one\n")
    assert given.decided() == []
    lock(given)
    assert [type(event) for event in given.decided()] == [GenomeCommitted]
    assert given.decided() == []


def test_the_first_of_two_equal_variants_wins_even_in_one_decision() -> None:
    given = based()
    lock(given)
    variants(given, "same\n", "same\n")
    first, second = given.decided()
    assert isinstance(first, GenomeCommitted)
    assert isinstance(second, GenomeRejected)
    assert (second.reason, second.duplicate_of) == ("duplicate", first.genome.genome)


def test_prose_is_staged_and_committed_in_one_batch_code_waits_for_its_trial() -> None:
    given = born()
    given.birth("b1", prompt="three\n")
    given.birth("b2", files=[{"path": "solver.py", "text": "V = 2\n"}])
    staged, committed, waiting = given.decided()
    assert isinstance(staged, GenomeStaged) and not staged.touches_code
    assert isinstance(committed, GenomeCommitted) and committed.branch == "a0009"
    assert isinstance(waiting, GenomeStaged) and waiting.touches_code
    assert given.decided() == []
    given.event("t-b2", AttemptFinished(outcome="completed"))
    (committed,) = given.decided()
    assert isinstance(committed, GenomeCommitted)
    assert given.view.genomes[committed.genome.genome].files == waiting.tree


def test_two_equal_proposals_in_trial_become_one_genome() -> None:
    given = born()
    for name in ("b1", "b2"):
        given.birth(name, files=[{"path": "solver.py", "text": "V = 2\n"}])
    given.decided()
    for name in ("b2", "b1"):
        given.event(f"t-{name}", AttemptFinished(outcome="completed"))
    first, second = given.decided()
    assert isinstance(first, GenomeCommitted) and first.proposal == "b2"
    assert isinstance(second, GenomeRejected) and second.reason == "duplicate"


def test_a_failed_trial_shows_the_end_of_its_log() -> None:
    given = born()
    given.birth("b1", files=[{"path": "solver.py", "text": "V = (\n"}])
    given.decided()
    log = given.put(b"x" * 5000 + b"\xffSyntaxError")
    given.event("t-b1", AttemptFinished(outcome="failed", because="exit 1", log=log))
    (rejected,) = given.decided()
    assert isinstance(rejected, GenomeRejected)
    assert rejected.reason == "trial_failed"
    assert rejected.detail.endswith("SyntaxError")
    assert len(rejected.detail) <= 2000


def test_a_cancelled_trial_leaves_the_proposal_staged() -> None:
    given = born()
    given.birth("b1", files=[{"path": "solver.py", "text": "V = 2\n"}])
    given.decided()
    given.event("t-b1", AttemptFinished(outcome="cancelled"))
    assert given.decided() == []
    assert "b1" in given.view.staged


def test_an_unreadable_mutation_is_rejected_and_the_next_is_not_held_up() -> None:
    given = born()
    source = given.put(b'{"action": "mutate", "files": [{"path": "a", "text": "\\ud800"}]}')
    parent = next(iter(given.view.genomes))
    broken = BirthMutationDrafted(
        agent="a0009", tries=0, proposal="b1", parent_genome=parent, mutation=source, call="c"
    )
    given.event("e001-a0009", broken, 1)
    given.birth("b2", prompt="four\n")
    rejected, _, committed = given.decided()
    assert isinstance(rejected, GenomeRejected) and rejected.reason == "invalid"
    assert isinstance(committed, GenomeCommitted)


def test_the_chain_is_headed_once_after_a_boundary() -> None:
    given = born()
    (draft,) = phase_heads.decide(given.view, "main", NOW)
    assert isinstance(draft.data, ChainHeaded)
    assert (draft.data.up_to_seq, draft.data.events) == (given.seq, given.seq)
    given.event("main", draft.data)
    assert phase_heads.decide(given.view, "main", NOW) == []
