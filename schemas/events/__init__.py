"""The story: one file per entity, one class per event.

`CATALOGUE` maps (type, version) to the class, `OWNER` maps an entity to the one service
that may write it. `preflight` is shared: there the entity id is the owner.
"""

import importlib
import pkgutil

from schemas.base import Event

OWNER: dict[str, str] = {
    "run": "scheduler",
    "epoch": "scheduler",
    "benchmark": "architect",
    "genesis": "evolver",
    "agent": "evolver",
    "selection": "evolver",
    "brief": "evolver",
    "reflection": "evolver",
    "birth": "evolver",
    "attempt": "sandbox",
    "evidence": "sandbox",
    "measurement": "grader",
    "grading": "grader",
    "score": "grader",
    "leaderboard": "grader",
    "grant": "broker",
    "budget": "broker",
    "model_call": "broker",
    "memory": "broker",
    "egress": "broker",
    "genome": "lineage",
    "export": "lineage",
    "chain": "lineage",
}

SHARED: dict[str, tuple[str, ...]] = {"preflight": ("sandbox", "broker", "grader", "lineage")}

SERVICES = ("architect", "scheduler", "sandbox", "grader", "evolver", "broker", "lineage")


def _classes() -> dict[tuple[str, int], type[Event]]:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return {(cls.type, cls.v): cls for cls in Event.__subclasses__() if hasattr(cls, "type")}


CATALOGUE: dict[tuple[str, int], type[Event]] = _classes()
