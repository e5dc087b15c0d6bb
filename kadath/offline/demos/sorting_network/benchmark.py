"""How a sorting network is judged: everything is measured, no model is asked."""

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

GOAL = "Build a sorting network for 10 values with as few comparators as possible."
PROVED_BEST = 29
WORST = 100


def benchmark() -> Benchmark:
    """Score = 100 less the number of comparators."""
    failures, anti_fraud = conditions()
    return Benchmark(
        objective=GOAL,
        metric="comparators of a network that sorts all 1,024 zero-one inputs; fewer are better",
        attribution="the network that the organism's own solver.py prints within its tick budget",
        baseline="bubble sort, generation one: 45 comparators, score 55; an empty attempt: 0",
        score_range=ScoreRange(low=0, high=WORST - PROVED_BEST),
        criteria=(
            Criterion(
                id="comparators",
                description="Comparators of a network that sorts; 29 is proved to be the optimum.",
                weight=100,
                measurement=NumericLinear(direction="lower", minimum=WORST, target=PROVED_BEST),
                source=measured("/value"),
            ),
        ),
        tie_breaks=(
            TieBreak(
                id="depth",
                description="The network of fewer layers wins.",
                direction="lower",
                minimum=0,
                maximum=WORST,
                weight=1,
                source=measured("/depth"),
            ),
        ),
        failures=failures,
        anti_fraud=anti_fraud,
        required_outputs=(
            RequiredOutput(
                description='candidate.json: {"answer": [[low, high], ...], "value": count}',
                evidence_ref="candidate",
            ),
        ),
        evidence_requirements=EVIDENCE,
        grader_rules=GRADER_RULES,
        programs=(
            program(
                "sorting_network",
                "Checks that the comparators sort all 1,024 zero-one inputs and counts them.",
            ),
        ),
        limitations=(
            "Built-in demo: the benchmark and the mutations come from a search engine, "
            "not from a language model.",
            "A program may go on from the network that an ancestor's run ended with, as it was "
            "measured: what is inherited counts.",
        ),
        instructions=INSTRUCTIONS,
    )
