"""Which server answers a run's calls: its own base URL, else litellm in a child process."""

from services.broker.core.answer import Tried
from services.broker.core.view import View
from services.broker.effects.child import Child
from services.broker.effects.provider import Provider
from services.broker.effects.secrets import PROVIDER_KEY, RunSecrets
from services.kit.platform import Platform


class Route:
    """Keeps the connections of both ways."""

    def __init__(self, platform: Platform, secrets: RunSecrets) -> None:
        self._direct = Provider()
        self._child = Child(platform)
        self._secrets = secrets

    async def send(self, view: View, body: bytes, seconds: float) -> Tried:
        request = view.request
        assert request is not None
        if request.models.api_base is None:
            return await self._child.send(body, seconds)
        key = self._secrets.value(PROVIDER_KEY)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return await self._direct.send(request.models.api_base, body, headers, seconds)

    async def close(self) -> None:
        await self._direct.close()
        await self._child.close()
