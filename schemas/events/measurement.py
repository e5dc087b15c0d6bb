"""A fact taken by a program. Owner: grader. Id: `<attempt>-m-<program>`."""

from schemas.base import Event
from schemas.refs import BlobRef, Sha256


class MeasurementRequested(Event):
    type = "measurement.requested"
    attempt: str
    agent: str
    program: str
    evidence: Sha256
    seed: int


class MeasurementRecorded(Event):
    """`response` is the program's one JSON object."""

    type = "measurement.recorded"
    attempt: str
    agent: str
    program: str
    response: BlobRef


class MeasurementFailed(Event):
    type = "measurement.failed"
    attempt: str
    agent: str
    program: str
    reason: str
    retryable: bool
