"""Tools that speak to the broker about experience: activity log and memory."""

import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from kadath_runtime.gateway import Gateway, Reply
from kadath_runtime.records import append_line, clip

MAX_SUMMARY, MAX_FIELD, MAX_BODY = 2000, 2000, 20_000
MAX_REFS, MAX_REF = 25, 500


class Activity:
    """What was done and what came of it: a local file always, the broker where it answers."""

    def __init__(self, path: Path, gateway: Gateway):
        self._path, self._gateway = path, gateway
        self.last_summary = ""

    def log_activity(
        self,
        summary: str,
        outcome: str = "",
        next_step: str = "",
        strategy: str = "",
        evidence_refs: list = [],  # noqa: B006
    ) -> str:
        """Log one finished piece of work, so that you and others can build on it.

        Args:
            summary: What you did, 1 to 2,000 characters.
            outcome: What came of it, with numbers.
            next_step: What you would do next.
            strategy: The approach in a few words.
            evidence_refs: Up to 25 names of files or records that show it.
        """
        if not str(summary).strip():
            raise ValueError("summary must not be empty")
        entry: dict[str, Any] = {
            "summary": clip(str(summary), MAX_SUMMARY),
            "outcome": clip(str(outcome), MAX_FIELD),
            "next_step": clip(str(next_step), MAX_FIELD),
            "strategy": clip(str(strategy), MAX_FIELD),
            "evidence_refs": references(evidence_refs),
        }
        append_line(self._path, entry | {"at": time.time()})
        self.last_summary = str(entry["summary"])
        published = self._gateway.ask("POST", "/activity", entry) is not None
        return "logged" if published else "logged locally; the broker did not take it"


class Memory:
    """Ranked experience: own, inherited and published by others."""

    def __init__(self, gateway: Gateway):
        self._gateway = gateway

    def search_memory(self, query: str, limit: int = 10) -> list:
        """Search experience; best first.

        Each is {"record", "agent", "kind", "summary", "body", "scope", "score"}.

        Args:
            query: Words to look for; an empty text gives the highest ranked records.
            limit: How many records, 1 to 50.
        """
        count = max(1, min(50, int(limit)))
        reply = self._gateway.request(
            "GET", "/memory?" + urlencode({"q": clip(str(query), 500), "limit": count})
        )
        records = accepted(reply).get("records")
        return records[:count] if isinstance(records, list) else []

    def rate_memory(self, record: str, value: int) -> str:
        """Rate another agent's record after you used it.

        Args:
            record: The record's id as search_memory gives it.
            value: 1 if it helped, -1 if it misled.
        """
        if value not in (1, -1):
            raise ValueError("value is 1 or -1")
        accepted(
            self._gateway.request(
                "POST", "/memory/ratings", {"record": str(record), "value": value}
            )
        )
        return "rated"

    def publish_memory(self, summary: str, body: str = "", visibility: str = "population") -> str:
        """Keep an insight for your descendants and, if you like, for the whole population.

        Args:
            summary: The insight in 1 to 2,000 characters.
            body: Details, at most 20,000 characters.
            visibility: "population" or "own".
        """
        if not str(summary).strip() or visibility not in ("population", "own"):
            raise ValueError('summary must not be empty, visibility is "population" or "own"')
        record = {
            "kind": "insight",
            "summary": clip(str(summary), MAX_SUMMARY),
            "body": clip(str(body), MAX_BODY),
            "evidence_refs": [],
            "visibility": visibility,
        }
        return str(
            accepted(self._gateway.request("POST", "/memory", record)).get("record", "published")
        )


def references(refs: Any) -> list[str]:
    """At most 25 short texts."""
    return [clip(str(ref), MAX_REF) for ref in list(refs)[:MAX_REFS]]


def accepted(reply: Reply) -> dict[str, Any]:
    if not 200 <= reply.status < 300:
        raise ValueError(
            f"the broker refused with status {reply.status}: {clip(str(reply.body), 300)}"
        )
    return reply.body if isinstance(reply.body, dict) else {}
