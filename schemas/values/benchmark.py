"""The contract of measurement. Its JSON Schema is what the Architect model must answer with.

Only the shape is here; what a *valid* benchmark is (weights, bounds, sources) is a rule of
the architect: `services/architect/core/contract.py`.
"""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, StrictFloat, StrictInt

from schemas.base import Value
from schemas.refs import BlobRef, TreeRef

Number = StrictInt | StrictFloat
"""A JSON number. Booleans and numeric strings are refused by the contract."""


def exact(number: Number) -> Decimal:
    """The decimal that a person wrote: 0.1 is a tenth, not its binary neighbour."""
    return Decimal(str(number))


Direction = Literal["higher", "lower"]
Evidence = Literal["self", "agent", "kernel"]
"""Weakest first: the organism's own claim, files it made, facts the kernel took itself."""


class Measured(Value):
    """A number or boolean that a program or connector reports at a JSON pointer."""

    source: Literal["measured"] = "measured"
    provider: str = Field(description="id of a program of this benchmark or of a connector")
    pointer: str = Field(description="RFC 6901 JSON pointer into the provider's answer")


class Kernel(Value):
    """A fact that the kernel holds about the attempt."""

    source: Literal["kernel"] = "kernel"
    fact: Literal["wall_seconds", "tokens", "model_calls", "restarts", "files_new"]


class Judged(Value):
    """A fact that the Grader model extracts from frozen evidence."""

    source: Literal["judged"] = "judged"
    minimum_evidence: Evidence = "agent"


Source = Annotated[Measured | Kernel | Judged, Field(discriminator="source")]


class Binary(Value):
    """True earns everything, false nothing."""

    type: Literal["binary"] = "binary"


class NumericLinear(Value):
    """`minimum` earns nothing, `target` everything, linear between, clamped."""

    type: Literal["numeric_linear"] = "numeric_linear"
    direction: Direction
    minimum: Number
    target: Number


class Level(Value):
    """One of several named levels; `fraction` in [0, 1]."""

    id: str
    description: str
    fraction: Number


class Levels(Value):
    """The Grader names the level, the kernel takes its fraction."""

    type: Literal["levels"] = "levels"
    levels: tuple[Level, ...]


Measurement = Annotated[Binary | NumericLinear | Levels, Field(discriminator="type")]


class Criterion(Value):
    """One weighted line of the rubric."""

    id: str
    description: str
    weight: Number
    measurement: Measurement
    source: Source


class TieBreak(Value):
    """Orders agents of equal score."""

    id: str
    description: str
    direction: Direction
    minimum: Number
    maximum: Number
    weight: Number
    source: Source


class FailureRule(Value):
    """A condition that makes the attempt a failure whatever its score. Measured: true fails."""

    id: str
    condition: str
    source: Source


class AntiFraud(Value):
    """A check that every attempt must pass. Measured: false fails."""

    id: str
    check: str
    source: Source


class RequiredOutput(Value):
    """What must be there: `candidate`, `activity`, `file:<glob>` or `external:<connector>`."""

    description: str
    evidence_ref: str


class ScoreRange(Value):
    low: Number
    high: Number


class ProgramFile(Value):
    """A file of a measuring program, drafted inline."""

    path: str
    text: str


class Program(Value):
    """A measuring program. Runs in its own sandbox over the frozen evidence at `/evidence`,
    itself read-only at `/program`; its standard output is one JSON object."""

    id: str
    description: str
    files: tuple[ProgramFile, ...] = ()
    tree: TreeRef | None = Field(default=None, description="instead of files: a user's program")
    argv: tuple[str, ...]
    timeout_seconds: int = 60


class Instructions(Value):
    """What the specialists are told beyond their own prompt."""

    grader: str
    tweaker: str
    birther: str


class Benchmark(Value):
    """Everything that decides who is better, locked before the first attempt."""

    objective: str
    metric: str
    attribution: str
    baseline: str
    score_range: ScoreRange
    cumulative: bool = False
    criteria: tuple[Criterion, ...]
    tie_breaks: tuple[TieBreak, ...]
    failures: tuple[FailureRule, ...]
    anti_fraud: tuple[AntiFraud, ...]
    required_outputs: tuple[RequiredOutput, ...]
    evidence_requirements: tuple[str, ...]
    grader_rules: tuple[str, ...]
    programs: tuple[Program, ...] = ()
    connectors: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    instructions: Instructions
    cases: BlobRef | None = None
