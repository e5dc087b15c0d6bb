"""What the benchmarks of all demos share."""

from schemas.values.benchmark import AntiFraud, FailureRule, Instructions, Measured

EVIDENCE = ("candidate.json as the attempt left it",)
GRADER_RULES = ("Every item of this benchmark is measured by the program; nothing is judged.",)
INSTRUCTIONS = Instructions(
    grader="Nothing is judged: the measuring program decides.",
    tweaker="Name what the elite's stages gained per tick, and what gained nothing.",
    birther="Change solver.py only; harness.py is the fixed part and stays as it is.",
)


def measured(pointer: str) -> Measured:
    """A value of the demo's only program."""
    return Measured(provider="measure", pointer=pointer)


def conditions() -> tuple[tuple[FailureRule, ...], tuple[AntiFraud, ...]]:
    """An invalid answer fails, and so does a claim that is not what was measured."""
    failure = FailureRule(
        id="invalid",
        condition="The answer is missing or not valid.",
        source=measured("/invalid"),
    )
    check = AntiFraud(
        id="claim_holds",
        check="The value that the candidate claims is the value that was measured.",
        source=measured("/claim_holds"),
    )
    return (failure,), (check,)
