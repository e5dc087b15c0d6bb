"""The secrets of a run: resolved once, taken out of everything that is kept."""

from services.broker.core.redaction import Redactor
from services.broker.core.view import View
from services.kit import edges
from services.kit.engine import Context

PROVIDER_KEY = "OPENAI_API_KEY"


class RunSecrets:
    """One redactor a run; a name without a value has nothing to redact."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._redactors: dict[str, Redactor] = {}

    def redactor(self, view: View) -> Redactor:
        found = self._redactors.get(view.run)
        if found is None and view.request is not None:
            names = [PROVIDER_KEY, *(secret.name for secret in view.request.secrets)]
            values = {name: self.value(name) for name in names}
            found = Redactor({name: value for name, value in values.items() if value})
            self._redactors[view.run] = found
        return found or Redactor({})

    def value(self, name: str) -> str:
        """The secret's value or ""; the log learns it too, and refuses to carry it."""
        try:
            return self._context.secrets.resolve(name)
        except KeyError:
            value = edges.environment(name)
            self._context.secrets.add(name, value)
            return value
