"""What this model cannot do, said clearly."""


class Refused(Exception):
    """An answer of status 422: `kind` is the error's type, the message says what to do."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def unsupported_goal(goals: list[str]) -> Refused:
    """A goal that is no demo's."""
    listed = "; ".join(f'"{goal}"' for goal in goals)
    return Refused(
        "unsupported_goal",
        "The offline model is a search engine for the built-in demos and cannot work on this goal. "
        f"It knows: {listed} For any other goal configure a real model: set its id and provider "
        "key (or the base URL of a local OpenAI-compatible server) in .kadath/config.env, or "
        "start `kadath` and choose `credentials and model`.",
    )
