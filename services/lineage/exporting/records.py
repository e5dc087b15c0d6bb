"""The readable files of an export: boards, champions, lineage."""

import json
from pathlib import Path
from typing import Any

from schemas import Recorded
from schemas.events.agent import AgentArchived, AgentBorn, AgentGenomeActivated
from schemas.events.genome import GenomeCommitted, GenomeRejected
from services.lineage.core.champion import board
from services.lineage.core.view import View

ANCESTRY = (AgentBorn, AgentGenomeActivated, AgentArchived, GenomeCommitted, GenomeRejected)


def write_records(folder: Path, view: View, log: list[Recorded]) -> None:
    """Everything here could be had from events.jsonl; it is here for a reader without tools."""
    boards = {epoch: [row.model_dump(mode="json") for row in board(view, epoch)]
              for epoch in sorted(view.boards)}  # fmt: skip
    _write(
        folder / "leaderboards" / "records.json",
        [{"epoch": epoch, "rows": rows} for epoch, rows in boards.items()],
    )
    _write(
        folder / "epoch-champions" / "records.json",
        [{"epoch": epoch, **rows[0]} for epoch, rows in boards.items() if rows],
    )
    _write(folder / "top-historical-genomes" / "records.json", _top(boards))
    _write(folder / "lineage.json", [_line(r) for r in log if isinstance(r.data, ANCESTRY)])
    if view.locked is not None:
        (folder / "benchmark.json").write_bytes(view.read(view.locked.benchmark))
        _write(folder / "locks.json", view.locked.model_dump(mode="json"))


def _top(boards: dict[int, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Each genome once, with its best result, best first."""
    best: dict[str, dict[str, Any]] = {}
    for epoch, rows in boards.items():
        for row in rows:
            known = best.get(row["genome"])
            if known is None or float(row["score"]) > float(known["score"]):
                best[row["genome"]] = {"epoch": epoch, **row}
    return sorted(best.values(), key=lambda row: (-float(row["score"]), row["agent"]))[:100]


def _line(recorded: Recorded) -> dict[str, Any]:
    return {"seq": recorded.seq, "type": recorded.envelope.type,
            **recorded.data.model_dump(mode="json", exclude_none=True)}  # fmt: skip


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
