"""From a proposal to a registered genome: staged, tried, committed or rejected. One at a time,
in the order of arrival, so that the first of two equal ones wins on every machine."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from schemas import BlobRef, Draft, GenomeRef, TreeRef, canonical, ref_of
from schemas.events.attempt import AttemptFinished
from schemas.events.genome import Change, GenomeCommitted, GenomeRejected, GenomeStaged
from schemas.values.mutation import Mutation
from schemas.values.tree import Tree
from services.lineage.core import genome, mutation_rules
from services.lineage.core.mutation_rules import PROMPT, Refusal
from services.lineage.core.view import Proposal, View

AT_ONCE = 20
DETAIL_BYTES = 2000
TREE_MEDIA = "application/vnd.kadath.tree+json"
_PROMPTS: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])


class Candidate(NamedTuple):
    """A tree that could become a genome, and the bytes its events will name."""

    proposal: Proposal
    tree: Tree
    files: TreeRef
    prompt: BlobRef
    changed: tuple[Change, ...]
    touches_code: bool
    contents: Mapping[str, bytes] = {}

    @property
    def blobs(self) -> tuple[bytes, ...]:
        """Everything that must be stored before an event names it."""
        return (*self.contents.values(), canonical(self.tree)) if self.contents else ()


def due(view: View) -> list[Proposal]:
    """Proposals that wait for lineage: nothing can be registered before the runtime is locked."""
    if view.locked is None or view.base is None:
        return []
    waiting = [*view.pending, *view.tried]
    return [view.proposals[name] for name in waiting[:AT_ONCE]]


def decide(view: View, about: str, now: datetime) -> list[Draft]:
    """What becomes of every waiting proposal."""
    known: set[str] = set(view.genomes)
    drafts: list[Draft] = []
    for proposal in due(view):
        drafts += _settle(view, proposal, known)
    return drafts


def _settle(view: View, proposal: Proposal, known: set[str]) -> list[Draft]:
    if proposal.id in view.tried:
        return _after_trial(view, proposal, known)
    found = _drafted(view, proposal)
    if isinstance(found, Refusal):
        return [_rejected(proposal, found)]
    registered = register(view, found)
    if registered.genome in known:
        return [_duplicate(proposal, registered.genome)]
    if found.touches_code:
        return [_staged(found)]
    known.add(registered.genome)
    staged = [] if proposal.origin == "genesis" else [_staged(found)]
    return [*staged, _committed(found, registered)]


def _after_trial(view: View, proposal: Proposal, known: set[str]) -> list[Draft]:
    finished, staged = view.tried[proposal.id], view.staged[proposal.id]
    if finished.outcome != "completed":
        return [_rejected(proposal, Refusal("trial_failed", _end_of(view, finished)))]
    tree = Tree.model_validate_json(view.read(staged.tree))
    found = Candidate(proposal, tree, staged.tree, staged.prompt, staged.changed, True)
    registered = register(view, found)
    if registered.genome in known:
        return [_duplicate(proposal, registered.genome)]
    known.add(registered.genome)
    return [_committed(found, registered)]


def _end_of(view: View, finished: AttemptFinished) -> str:
    """What the author should see: why the trial ended, and the last of its log."""
    tail = ""
    if finished.log is not None:
        tail = view.read(finished.log)[-DETAIL_BYTES:].decode(errors="replace")
    text = "\n".join(filter(None, (finished.because, tail))) or finished.outcome
    return text[-DETAIL_BYTES:]


def _drafted(view: View, proposal: Proposal) -> Candidate | Refusal:
    assert view.base is not None
    if proposal.origin == "genesis":
        parent, mutation = view.base.tree, _variant(view, proposal)
    elif proposal.parent in view.genomes:
        parent, mutation = view.genomes[proposal.parent].files.sha256, _mutation(view, proposal)
    else:
        return Refusal("invalid", "the parent genome is not registered in this run")
    if isinstance(mutation, Refusal):
        return mutation
    before = Tree.model_validate_json(view.content(parent))
    applied = mutation_rules.apply(before, mutation)
    if isinstance(applied, Refusal):
        if applied.reason != "no_change" or proposal.origin != "genesis":
            return applied
        # A variant may keep the seed's own prompt.
        applied = mutation_rules.Applied(before, {}, (), False)
    return _candidate(proposal, applied)


def _candidate(proposal: Proposal, applied: mutation_rules.Applied) -> Candidate:
    manifest = canonical(applied.tree)
    prompt = next(file for file in applied.tree.files if file.path == PROMPT)
    return Candidate(
        proposal=proposal,
        tree=applied.tree,
        files=TreeRef(**ref_of(manifest, TREE_MEDIA).model_dump()),
        prompt=BlobRef(sha256=prompt.sha256, size=prompt.size, media="text/markdown"),
        changed=applied.changed,
        touches_code=applied.touches_code and proposal.origin != "genesis",
        contents=applied.contents,
    )


def _variant(view: View, proposal: Proposal) -> Mutation | Refusal:
    try:
        prompt = _PROMPTS.validate_json(view.read(proposal.source))[proposal.id]
    except (ValidationError, KeyError):
        return Refusal("invalid", "the batch holds no prompt for this variant")
    return Mutation(action="mutate", prompt=prompt)


def _mutation(view: View, proposal: Proposal) -> Mutation | Refusal:
    try:
        mutation = Mutation.model_validate_json(view.read(proposal.source))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        text = f"{place}: {first['msg']}".encode(errors="replace").decode()
        return Refusal("invalid", f"not a mutation: {text[:500]}")
    if mutation.action == "unchanged":
        return Refusal("no_change", "the proposal keeps its parent")
    return mutation


def register(view: View, found: Candidate) -> GenomeRef:
    """The identity of a candidate under the run's locked runtime."""
    assert view.locked is not None
    tree = git_tree(view, found.tree, found.contents).id
    return GenomeRef(
        genome=genome.identity(tree, found.prompt.sha256, view.locked.runtime_sha),
        tree=tree,
        commit=commit(view, found.proposal, tree).id,
        files=found.files,
        prompt_sha=found.prompt.sha256,
        runtime_sha=view.locked.runtime_sha,
    )


def git_tree(view: View, tree: Tree, fresh: Mapping[str, bytes]) -> genome.GitTree:
    """The git tree of a manifest; contents that are not stored yet come from `fresh`."""
    return genome.git_tree(
        genome.Entry(file.path, view.blob_id(file.sha256, fresh), file.executable)
        for file in tree.files
    )


def commit(view: View, proposal: Proposal, tree: str) -> genome.GitObject:
    """The commit of a proposal, on top of its parent's."""
    assert view.base is not None
    parent = view.genomes.get(proposal.parent or "")
    above = parent.commit if parent else view.base.commit
    return genome.git_commit(tree, above, f"{proposal.origin} {proposal.id}")


def _staged(found: Candidate) -> Draft:
    proposal = found.proposal
    event = GenomeStaged(
        proposal=proposal.id,
        origin=proposal.origin,
        tree=found.files,
        prompt=found.prompt,
        parent=proposal.parent,
        touches_code=found.touches_code,
        changed=found.changed,
    )
    return Draft(proposal.id, event, proposal.epoch, found.blobs)


def _committed(found: Candidate, registered: GenomeRef) -> Draft:
    proposal = found.proposal
    event = GenomeCommitted(
        proposal=proposal.id,
        genome=registered,
        parent=proposal.parent,
        branch=proposal.branch,
        prompt=found.prompt,
        changed=found.changed,
        origin=proposal.origin,
    )
    return Draft(proposal.id, event, proposal.epoch, found.blobs)


def _rejected(proposal: Proposal, refusal: Refusal) -> Draft:
    event = GenomeRejected(
        proposal=proposal.id, origin=proposal.origin, reason=refusal.reason, detail=refusal.detail
    )
    return Draft(proposal.id, event, proposal.epoch)


def _duplicate(proposal: Proposal, of: str) -> Draft:
    event = GenomeRejected(
        proposal=proposal.id, origin=proposal.origin, reason="duplicate", duplicate_of=of
    )
    return Draft(proposal.id, event, proposal.epoch)
