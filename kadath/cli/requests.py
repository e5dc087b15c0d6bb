"""Builds a run request out of what the user said."""

import os
import shutil
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Literal, NamedTuple

import typer

from schemas import TreeRef
from schemas.events.run import RunRequested, Strategy
from schemas.values.runtime import Budget, Limits, Models
from services.kit import trees
from services.kit.blobs import FileBlobs

RESERVED = frozenset(
    {
        "KADATH_DATABASE_URL",
        "LITELLM_API_KEY",
        "LITELLM_MASTER_KEY",
        "LITELLM_API_BASE",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "DOCKER_HOST",
        "KADATH_WORKER_TOKEN",
        "KADATH_WORKER_BROKER_URL",
        "KADATH_TOKEN",
        "KADATH_TASK",
        "OPENAI_BASE_URL",
        "PYTHONPATH",
    }  # fmt: skip
)


def environment(pairs: list[str]) -> dict[str, str]:
    """KEY=VALUE pairs. Raises `typer.BadParameter` on a reserved or malformed name."""
    found = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name.isidentifier():
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE")
        if name in RESERVED:
            raise typer.BadParameter(f"{name} is reserved by KADATH")
        found[name] = value
    return found


def money(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        raise typer.BadParameter(f"{text!r} is not an amount") from None


async def starter(blobs: FileBlobs, folder: Path | None) -> TreeRef | None:
    """A folder whose files are laid over the seed genome."""
    if folder is None:
        return None
    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is not a folder")
    ref, _ = await trees.put_folder(blobs, folder)
    return ref


def demo_request(
    goal: str,
    name: str,
    api_base: str,
    files: TreeRef,
    strategy: str,
    seed: int,
    size: "Size",
) -> RunRequested:
    """The demo's own run: small limits, bounded by passes and steps, never by the clock."""
    return RunRequested(
        name=name,
        goal=goal,
        epochs=size.epochs,
        population=size.population,
        epoch_seconds=120,
        limits=Limits(memory_mb=512, state_mb=64, passes=1, steps=4),
        models=Models(specialist="offline", organism="offline", api_base=api_base),
        starter=files,
        strategy=Strategy(name=strategy),  # type: ignore[arg-type]
        approve="automatic",
        executor=executor(size.backend),
        seed=seed,
    )


def executor(backend: str) -> Literal["local", "docker"]:
    """`auto` is the local backend where bubblewrap is, else Docker."""
    if backend not in ("auto", "local", "docker"):
        raise typer.BadParameter(f"{backend!r} is not auto, local or docker")
    if backend == "docker" or (backend == "auto" and shutil.which("bwrap") is None):
        return "docker"
    return "local"


class Size(NamedTuple):
    """How large a demo is, and what it runs on."""

    population: int
    epochs: int
    backend: str = "local"


def budget(
    usd: str | None, tokens: int | None, calls: int | None, wall_seconds: int | None
) -> Budget:
    return Budget(usd=money(usd), tokens=tokens, calls=calls, wall_seconds=wall_seconds)


def models(model: str, organism: str | None, api_base: str | None) -> Models:
    """One model for every role unless the organisms are given their own."""
    base = api_base or os.environ.get("OPENAI_BASE_URL")
    return Models(specialist=model, organism=organism or model, api_base=base)
