"""Every decision again: same facts, same moment, same code, and the same events must come out."""

import importlib
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import ModuleType
from typing import Any, NamedTuple

from schemas import SERVICES, BlobRef, Draft, Event, Recorded
from schemas.deciding import place

Read = Callable[[BlobRef], bytes]
SHOWN = 20


class Moment(NamedTuple):
    """What the events of one decision have in common."""

    run: str
    seen: int
    by: str
    about: str
    at: datetime

    @property
    def service(self) -> str:
        return self.by.partition("/")[0]


class Mismatch(NamedTuple):
    by: str
    about: str
    seq: int
    detail: str


@dataclass
class Report:
    """Counts are events. `outcomes` are recorded facts of the outside world and commands, which
    nobody can decide again; `skipped` were decided by code that this version does not have."""

    decided: int = 0
    matched: int = 0
    mismatched: int = 0
    outcomes: int = 0
    skipped: int = 0
    without_table: tuple[str, ...] = ()
    mismatches: list[Mismatch] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.mismatched

    def missed(self, moment: Moment, events: Sequence[Recorded], detail: str) -> None:
        self.mismatched += len(events)
        if len(self.mismatches) < SHOWN:
            found = Mismatch(moment.by, moment.about, events[0].seq, detail)
            self.mismatches.append(found)


def redecide(log: Iterable[Recorded], read: Read) -> Report:
    """Decide every event of the log again. `log` may hold several runs."""
    runs: dict[str, list[Recorded]] = defaultdict(list)
    for recorded in log:
        runs[recorded.run].append(recorded)
    tables = {name: table for name in SERVICES if (table := _table(name))}
    report = Report(without_table=tuple(name for name in SERVICES if name not in tables))
    for run in sorted(runs):
        _Run(sorted(runs[run]), read, tables, report).check()
    return report


def _table(service: str) -> ModuleType | None:
    name = f"services.{service}.core.table"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        return None


def _handles(table: ModuleType) -> frozenset[type[Event]] | None:
    """The events that the running service feeds to this fold; None: all of them."""
    handles = getattr(sys.modules[table.VIEW.__module__], "HANDLES", None)
    return None if handles is None else frozenset(handles)


class _Run:
    """One run: its folds move forward as the decisions saw them."""

    def __init__(
        self, log: list[Recorded], read: Read, tables: dict[str, ModuleType], report: Report
    ) -> None:
        self._log, self._read, self._tables, self._report = log, read, tables, report
        self._views: dict[str, Any] = {}
        self._handles = {name: _handles(table) for name, table in tables.items()}
        self._folding: list[str] = []
        self._broken: dict[str, str] = {}
        self._applied = 0
        self._counts: dict[tuple[str, str], int] = defaultdict(int)

    def check(self) -> None:
        groups: dict[Moment, list[Recorded]] = defaultdict(list)
        for recorded in self._log:
            if self._decision(recorded) is not None:
                groups[_moment(recorded)].append(recorded)
        self._folding = sorted({moment.service for moment in groups})
        for moment in sorted(groups, key=lambda moment: (moment.seen, groups[moment][0].seq)):
            self._advance(moment.seen)
            self._compare(moment, groups[moment])

    def _decision(self, recorded: Recorded) -> Callable[..., list[Draft]] | None:
        """The code that decided this event, counting what has none."""
        service, _, name = recorded.envelope.by.partition("/")
        if "@" not in name:
            self._report.outcomes += 1
            return None
        decide: Callable[..., list[Draft]] | None = None
        if service in self._tables:
            decide = self._tables[service].DECIDE.get(name)
        if decide is None:
            self._report.skipped += 1
        return decide

    def _advance(self, seen: int) -> None:
        while self._applied < len(self._log) and self._log[self._applied].seq <= seen:
            recorded = self._log[self._applied]
            self._counts[recorded.envelope.entity, recorded.entity_id] += 1
            for service in self._folding:
                self._fold(service, recorded)
            self._applied += 1

    def _fold(self, service: str, recorded: Recorded) -> None:
        if service in self._broken:
            return
        handled = self._handles[service]
        if handled is not None and type(recorded.data) not in handled:
            return
        try:
            self._view(service, recorded.run).apply(recorded)
        except Exception as error:  # the log does not fit this version's fold: say where
            text = f"folding event {recorded.seq} raised {type(error).__name__}: {error}"
            self._broken[service] = text[:500]

    def _view(self, service: str, run: str) -> Any:
        if service not in self._views:
            self._views[service] = self._tables[service].VIEW(run, self._read)
        return self._views[service]

    def _compare(self, moment: Moment, events: list[Recorded]) -> None:
        self._report.decided += len(events)
        service = moment.service
        if service in self._broken:
            self._report.missed(moment, events, self._broken[service])
            return
        decide = self._tables[service].DECIDE[moment.by.partition("/")[2]]
        try:
            drafts = decide(self._view(service, moment.run), moment.about, moment.at)
        except Exception as error:  # an auditor reports a broken rule, and goes on
            self._report.missed(moment, events, f"deciding raised {type(error).__name__}: {error}")
            return
        difference = self._difference(moment.run, drafts, events)
        if difference is None:
            self._report.matched += len(events)
        else:
            self._report.missed(moment, events, difference)

    def _difference(self, run: str, drafts: list[Draft], events: list[Recorded]) -> str | None:
        placed = place(run, lambda *key: self._counts[key], drafts)
        entities = {(event.envelope.entity, event.entity_id) for event in events}
        # A chain of one entity may have been cut by a crash: then what is there is its beginning.
        if len(placed) < len(events) or (len(placed) > len(events) and len(entities) > 1):
            return f"{len(placed)} events decided, {len(events)} recorded"
        for decided, event in zip(placed, events, strict=False):
            if decided.id != event.envelope.id:
                return f"event {event.seq} has another identity"
            found = _difference_of(decided.draft, event)
            if found:
                return f"event {event.seq}: {found}"
        return None


def _moment(recorded: Recorded) -> Moment:
    envelope = recorded.envelope
    about = envelope.about or ""
    return Moment(envelope.run, envelope.seen, envelope.by, about, envelope.occurred_at)


def _difference_of(decided: Draft, recorded: Recorded) -> str | None:
    if decided.data.type != recorded.envelope.type:
        return f"{decided.data.type} decided, {recorded.envelope.type} recorded"
    ours = decided.data.model_dump(mode="json", exclude_none=True)
    theirs = recorded.data.model_dump(mode="json", exclude_none=True)
    different = [name for name in ours | theirs if ours.get(name) != theirs.get(name)]
    if different:
        name = different[0]
        return f"{name} is {theirs.get(name)!r:.200}, decided was {ours.get(name)!r:.200}"
    return None
