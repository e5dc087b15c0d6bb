"""Draws registered genomes into the run's repository; objects and refs follow from the events."""

import asyncio
from pathlib import Path
from typing import Any

from schemas import BlobRef, Recorded
from schemas.events.genome import GenomeCommitted
from schemas.values.tree import Tree
from services.kit.blobs import Blobs
from services.kit.engine import Context
from services.lineage.core import genome, registration
from services.lineage.core.view import View
from services.lineage.effects.repository import SEED, Repository


def repository(context: Context, run: str) -> Repository:
    """The open repository of a run; the same one for every caller."""
    opened: dict[str, Repository] = context.resources.setdefault("repositories", {})
    if run not in opened:
        opened[run] = Repository(folder(context, run))
    return opened[run]


def folder(context: Context, run: str) -> Path:
    return context.platform.state / "git" / run


async def draw(context: Context, recorded: Recorded) -> None:
    """On genome.committed: objects, branch and tag. Doing it again changes nothing."""
    event: Any = recorded.data
    view = context.view(recorded.run)
    await asyncio.to_thread(
        write_genome, repository(context, recorded.run), context.blobs, view, event
    )


def write_genome(target: Repository, blobs: Blobs, view: View, event: GenomeCommitted) -> None:
    """Everything one genome needs in the repository."""
    registered = event.genome
    write_tree(target, blobs, view, registered.files.sha256)
    proposal = view.proposals[event.proposal]
    target.write([registration.commit(view, proposal, registered.tree)])
    target.point(f"refs/heads/{event.branch}", registered.commit)
    # The tag comes last: who sees it finds the rest.
    target.point(f"refs/tags/genome/{registered.genome}", registered.commit)


def write_base(target: Repository, blobs: Blobs, view: View, tree_sha: str) -> genome.GitObject:
    """The seed with its starter files, and the commit on which generation one stands."""
    tree = write_tree(target, blobs, view, tree_sha)
    commit = genome.git_commit(tree.id, None, "seed")
    target.write([commit])
    target.point(SEED, commit.id)
    return commit


def write_tree(target: Repository, blobs: Blobs, view: View, tree_sha: str) -> genome.GitTree:
    tree = Tree.model_validate_json(blobs.read(tree_sha))
    made = registration.git_tree(view, tree, {})
    wanted = {view.blob_id(file.sha256, {}): file for file in tree.files}
    contents = (
        genome.git_object("blob", blobs.get(BlobRef(sha256=wanted[oid].sha256, size=0)))
        for oid in target.missing(wanted)
    )
    target.write([*contents, *made.objects])
    return made


def write_all(target: Repository, blobs: Blobs, view: View) -> None:
    """The whole repository from events and blobs, in order of registration."""
    if view.base is not None:
        write_base(target, blobs, view, view.base.tree)
    for event in view.committed.values():
        write_genome(target, blobs, view, event)
