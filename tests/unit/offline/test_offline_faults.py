"""Fault plans are seeded and bounded."""

import json

from kadath.offline.faults import MOST_PER_STEP, FaultPlan, Kind, plan_of, step_of
from kadath.offline.request import Request, read


def request(question: dict, schema: str = "tweaker_dossier", seed: int = 0) -> Request:
    form = {"type": "json_schema", "json_schema": {"name": schema}}
    messages = [{"role": "user", "content": json.dumps(question)}]
    return read({"messages": messages, "response_format": form, "seed": seed})


def test_a_step_fails_three_times_at_most() -> None:
    """Even at a rate of one, the fourth try is answered."""
    plan = FaultPlan(rate=1.0)
    found = [plan.next(request({"a": 1}, seed=k)) for k in range(6)]
    assert [fault is not None for fault in found] == [True] * MOST_PER_STEP + [False] * 3
    assert len({fault.id for fault in found if fault}) == MOST_PER_STEP


def test_a_repair_is_a_retry_of_the_same_step() -> None:
    """What a retry adds does not make it another step."""
    plain = step_of(request({"goal": "g"}))
    for added in ({"repair": {"previous": 1}}, {"rejected": [1]}, {"violations": ["x"]}):
        assert plain == step_of(request({"goal": "g"} | added))
    assert plain != step_of(request({"goal": "other"}))


def test_a_growing_conversation_is_one_step() -> None:
    """An organism that tries again in the same pass is still at the same step."""
    start = [{"role": "system", "content": "s"}, {"role": "user", "content": "goal"}]
    more = [{"role": "assistant", "content": "?"}, {"role": "user", "content": "no code found"}]
    short, long = (
        step_of(read({"messages": m, "metadata": {"phase": "epoch"}}))
        for m in (start, start + more)
    )
    assert short == long


def test_the_same_plan_spoils_the_same_requests() -> None:
    """The seed decides, not the clock."""
    plans = [plan_of({"seed": 3, "rate": 0.4}) for _ in range(2)]
    runs = [[plan.next(request({"n": n})) for n in range(60)] for plan in plans]
    assert runs[0] == runs[1]
    assert 10 <= sum(fault is not None for fault in runs[0]) <= 40


def test_every_kind_of_fault_occurs() -> None:
    """Enough requests meet all of them."""
    plan = FaultPlan(rate=1.0)
    for number in range(200):
        plan.next(request({"n": number}))
    assert set(Kind) == {fault.kind for fault in plan.injected}
