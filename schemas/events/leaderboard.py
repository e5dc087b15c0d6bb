"""The ranking of one epoch. Owner: grader. Id: `e003`."""

from schemas.base import Event
from schemas.refs import BlobRef


class LeaderboardPublished(Event):
    """`rows` is a list of `RankedRow`, best first."""

    type = "leaderboard.published"
    epoch: int
    attempt_try: int
    rows: BlobRef
    count: int
    successes: int
    failures: int
