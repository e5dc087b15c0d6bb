"""How drafts become events: the one rule that the engine writes by and an audit repeats."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from schemas import ids
from schemas.envelope import Draft


class Placed(NamedTuple):
    """A draft with its identity: the id follows from its position in its entity."""

    id: str
    entity: str
    draft: Draft


def place(run: str, count: Callable[[str, str], int], drafts: Iterable[Draft]) -> list[Placed]:
    """Give drafts identity. `count(entity, entity_id)` is how many events it has already."""
    positions: dict[tuple[str, str], int] = {}
    placed = []
    for draft in drafts:
        key = (draft.data.entity(), draft.entity_id)
        position = positions.get(key, count(*key))
        positions[key] = position + 1
        placed.append(Placed(ids.event_id(run, *key, position), key[0], draft))
    return placed
