"""One way to ask a model: the question goes to the broker, the answer is a blob."""

from pathlib import Path

from schemas import Recorded, canonical
from schemas.commands.complete import Complete, Completion, CompletionFailed
from services.kit.commands import complete
from services.kit.engine import Context

PROMPTS = Path(__file__).parent.parent / "prompts"


async def ask(
    context: Context,
    recorded: Recorded,
    answer: str,
    about: str,
    payload: dict[str, object],
    attempt_no: int = 0,
) -> Completion | CompletionFailed:
    """`answer` is a key of ANSWERS; its first word names the role and the prompt file."""
    role = answer.partition("_")[0]
    request = Complete(
        run=recorded.run,
        caller=role,
        purpose=answer,
        answer=answer,
        about=about,
        attempt_no=attempt_no,
        epoch=recorded.envelope.epoch,
        system=(PROMPTS / f"{answer}.md").read_text(),
        payload=await context.blobs.put(canonical(payload)),
    )
    return await complete(context, request)
