"""Which memories come first for a reader and a question. Over values, in any script."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from services.broker.core.trust import Trust

Scope = Literal["own", "inherited", "population"]
WORDS = re.compile(r"\w{2,}")
MAX_TERMS = 32
KIND_WEIGHT = {"finding": 6.0, "insight": 6.0, "failure": 6.0, "activity": 4.0}
SCOPE_WEIGHT: dict[Scope, float] = {"inherited": 4.0, "own": 3.0, "population": 0.0}
HALF_LIFE_EPOCHS = 3.0
RECENT = 6.0


class Candidate(NamedTuple):
    """A record that the reader may see."""

    record: str
    agent: str
    kind: str
    summary: str
    body: str
    has_evidence: bool
    content_sha: str
    scope: Scope
    epoch: int | None
    seq: int


class Vote(NamedTuple):
    record: str
    rater: str
    value: int


class Scored(NamedTuple):
    candidate: Candidate
    score: float


def terms(query: str) -> list[str]:
    """The distinct words of a question, case folded, in any script."""
    words = WORDS.findall(_fold(query))
    return list(dict.fromkeys(words))[:MAX_TERMS]


def rank(
    candidates: Iterable[Candidate],
    query: str,
    votes: Iterable[Vote],
    trust: Trust,
    reader: str,
    epoch: int | None,
    limit: int,
) -> list[Scored]:
    """Best first, each content once, at most `limit`; without a matching word none."""
    wanted = terms(query)
    usefulness = _usefulness(votes, trust)
    scored = [
        Scored(c, round(_score(c, found, trust, reader, epoch) + 8 * usefulness(c), 6))
        for c in candidates
        for found in [matches(c, wanted)]
        if found or not wanted
    ]
    # Never by arrival: which of two agents was faster must not change what a third one reads.
    scored.sort(key=lambda s: (-s.score, -(s.candidate.epoch or 0), s.candidate.record))
    return _distinct(scored, limit)


def matches(candidate: Candidate, wanted: list[str]) -> int:
    """How many words stand in the record's values."""
    if not wanted:
        return 0
    text = _fold(f"{candidate.summary}\n{candidate.body}")
    return sum(word in text for word in wanted)


def _score(candidate: Candidate, found: int, trust: Trust, reader: str, epoch: int | None) -> float:
    credibility = trust.of(candidate.agent, candidate.epoch)
    reader_is_middle = 0.25 < trust.of(reader) < 0.90
    age = max((epoch or 0) - (candidate.epoch or 0), 0)
    recency: float = RECENT * 0.5 ** (age / HALF_LIFE_EPOCHS)
    return (
        20.0 * found
        + KIND_WEIGHT.get(candidate.kind, 0.0)
        + (4.0 if candidate.has_evidence else 0.0)
        + 20.0 * credibility
        + (12.0 if reader_is_middle and credibility >= 0.90 else 0.0)
        + SCOPE_WEIGHT[candidate.scope]
        + recency
    )


def _usefulness(votes: Iterable[Vote], trust: Trust) -> Callable[[Candidate], float]:
    """Σ(value × trust) / (2 + Σ trust) of everybody's votes but the author's."""
    of_record: dict[str, list[Vote]] = {}
    for vote in votes:
        of_record.setdefault(vote.record, []).append(vote)

    def usefulness(candidate: Candidate) -> float:
        mine = [v for v in of_record.get(candidate.record, ()) if v.rater != candidate.agent]
        weights = [trust.of(vote.rater) for vote in mine]
        total = sum(v.value * w for v, w in zip(mine, weights, strict=True))
        return total / (2 + sum(weights))

    return usefulness


def _distinct(scored: list[Scored], limit: int) -> list[Scored]:
    kept: dict[str, Scored] = {}
    for one in scored:
        kept.setdefault(one.candidate.content_sha, one)
    return list(kept.values())[:limit]


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
