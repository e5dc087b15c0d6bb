"""How a packing is judged: everything is measured, no model is asked."""

from kadath.offline.demos.common import EVIDENCE, GRADER_RULES, INSTRUCTIONS, conditions, measured
from kadath.offline.demos.demo import program
from schemas.values.benchmark import (
    Benchmark,
    Criterion,
    NumericLinear,
    RequiredOutput,
    ScoreRange,
    TieBreak,
)

GOAL = (
    "Pack 26 circles into the unit square without overlap so that the sum of their radii is as "
    "large as possible."
)
PUBLISHED_BEST = 2.63598


def benchmark() -> Benchmark:
    """Score = sum of radii."""
    failures, anti_fraud = conditions()
    return Benchmark(
        objective=GOAL,
        metric="sum of the radii of 26 circles in the unit square",
        attribution="the packing that the organism's own solver.py prints within its tick budget",
        baseline="the plain grid of generation one: 2.333333; an empty attempt: 0",
        score_range=ScoreRange(low=0, high=PUBLISHED_BEST),
        criteria=(
            Criterion(
                id="sum_of_radii",
                description="Sum of the radii of a valid packing; published best 2.63598.",
                weight=100,
                measurement=NumericLinear(direction="higher", minimum=0, target=PUBLISHED_BEST),
                source=measured("/value"),
            ),
        ),
        tie_breaks=(
            TieBreak(
                id="smallest_radius",
                description="The larger smallest circle wins.",
                direction="higher",
                minimum=0,
                maximum=0.5,
                weight=1,
                source=measured("/smallest"),
            ),
        ),
        failures=failures,
        anti_fraud=anti_fraud,
        required_outputs=(
            RequiredOutput(
                description='candidate.json: {"answer": [[x, y, radius], ...], "value": sum}',
                evidence_ref="candidate",
            ),
        ),
        evidence_requirements=EVIDENCE,
        grader_rules=GRADER_RULES,
        programs=(
            program(
                "circle_packing",
                "Checks in exact arithmetic that 26 circles lie in the square and do not overlap "
                "(tolerance 1e-9), and adds up their radii.",
            ),
        ),
        limitations=(
            "Built-in demo: the benchmark and the mutations come from a search engine, "
            "not from a language model.",
            "A program may go on from roughly where an ancestor's run ended (centres with three "
            "digits, as they were measured): what is inherited counts.",
            "Ticks and stage facts are the solver's own account; they steer mutations and earn "
            "nothing.",
        ),
        instructions=INSTRUCTIONS,
    )
