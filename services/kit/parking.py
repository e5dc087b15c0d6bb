"""What could not be done after five tries is set aside, visibly, and stops nobody else."""

import json

from nats.aio.client import Client

from schemas import subjects
from services.kit import edges


class Parking:
    """Copies a poison item with its error to the parked stream of one service."""

    def __init__(self, client: Client, service: str) -> None:
        self._client = client
        self._service = service

    async def park(self, name: str, run: str, about: str, error: Exception) -> None:
        """Record what was being done, for which entity, and why it failed."""
        body = {
            "service": self._service,
            "name": name,
            "run": run,
            "about": about,
            "error": f"{type(error).__name__}: {error}"[:2000],
            "at": edges.now().isoformat(),
        }
        consumer = name.partition("@")[0].replace("/", "-")
        subject = subjects.parked(self._service, consumer)
        await self._client.jetstream().publish(subject, json.dumps(body).encode(), timeout=5)
