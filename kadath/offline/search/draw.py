"""Seeded choice: every draw is a function of the request that asked for it."""

import hashlib
import json
import random
from collections.abc import Sequence
from math import exp, log
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A generator seeded by the content of its arguments."""

    def __init__(self, *content: object) -> None:
        text = json.dumps(content, sort_keys=True, default=str)
        self._random = random.Random(int(hashlib.sha256(text.encode()).hexdigest(), 16))

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[tuple[float, T]]) -> T:
        """One of the items, in proportion to their weights."""
        mark = self._random.random() * sum(weight for weight, _ in items)
        for weight, item in items:
            mark -= weight
            if mark < 0:
                return item
        return items[-1][1]

    def below(self, bound: int) -> int:
        return int(self._random.random() * bound)

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self._random.random()

    def magnitude(self, low: float, high: float) -> float:
        """Between two positive bounds, every order of magnitude alike."""
        return exp(self.between(log(low), log(high)))

    def blur(self, width: float) -> float:
        """A positive factor around one."""
        return exp(self._random.gauss(0.0, width))
