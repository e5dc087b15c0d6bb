"""Which role answers a request. Every answer is a pure function of the request."""

from collections.abc import Callable

from kadath.offline.request import Json, Request
from kadath.offline.roles import architect, birther, grader, organism, reflection, tweaker
from kadath.offline.roles.refusal import Refused
from schemas.base import Value

SPECIALISTS: dict[str, Callable[[Json], Value]] = {
    "architect_benchmark": architect.benchmark,
    "birther_variants": birther.variants,
    "birther_mutation": birther.mutation,
    "grader_chunk": grader.chunk,
    "grader_notes": grader.notes,
    "grader_facts": grader.facts,
    "tweaker_dossier": tweaker.dossier,
    "tweaker_briefs": tweaker.briefs,
}

HONEST = (
    "I am KADATH's built-in search engine, not a language model: I play the roles of a run on the "
    "built-in demos and cannot hold a conversation."
)


def answer(request: Request) -> str:
    """The text of the answer, or `Refused`."""
    if request.schema:
        return _specialist(request)
    match request.phase:
        case "epoch":
            return organism.attempt(request)
        case "reflection":
            return reflection.reflect(request)
        case "trial":
            return organism.trial()
        case _:
            return HONEST


def _specialist(request: Request) -> str:
    role = SPECIALISTS.get(request.schema or "")
    if role is None:
        raise Refused("unsupported_schema", f"no role answers the schema {request.schema!r}")
    try:
        return role(request.question).model_dump_json()
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        what = f"{request.schema}: the question is incomplete: {error!r}"
        raise Refused("invalid_question", what) from error
