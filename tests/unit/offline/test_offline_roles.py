"""Roles are pure functions of a request, and what they answer fits its contract."""

import base64
import json
import re
import zlib

import pytest

from kadath.offline.demos import DEMOS
from kadath.offline.request import read
from kadath.offline.roles import answer, birther, tweaker
from kadath.offline.roles.refusal import Refused
from schemas.values.answers import Briefs, Variants
from schemas.values.benchmark import Benchmark
from schemas.values.mutation import Mutation

CIRCLES = DEMOS["circle_packing"]
PLAIN = CIRCLES.toolbox.starter
MEASURED = {"value": 2.333333, "valid": True, "ticks": 0, "limit": 6500, "stages": [], "answer": []}


def asked(schema: str, question: dict, seed: int = 1) -> str:
    form = {"type": "json_schema", "json_schema": {"name": schema}}
    messages = [
        {"role": "system", "content": "You are a specialist."},
        {"role": "user", "content": json.dumps(question)},
    ]
    body = {"model": "offline", "messages": messages, "response_format": form, "seed": seed}
    return answer(read(body))


def birth(slot: str = "a0009", strategy: str = "default", source: str = PLAIN, **more: object):
    parent = {"agent": "a0001", "files": {"solver.py": source}, "measured": MEASURED}
    return {
        "parent": parent,
        "elites": [parent],
        "objective": CIRCLES.goal,
        "strategy": {"name": strategy, "params": {}},
        "slot": slot,
        "seed": 5,
        "epoch": 1,
        "rejected": [],
    } | more


def turn(phase: str, *messages: tuple[str, str]) -> str:
    listed = [{"role": role, "content": text} for role, text in messages]
    body = {"model": "offline", "messages": listed, "metadata": {"phase": phase, "step": "1"}}
    return answer(read(body))


def shown(source: str) -> str:
    facts = {
        "agent": "a0004",
        "seed": 5,
        "own": {"source": source, "measured": MEASURED},
        "elites": [{"source": source, "measured": MEASURED}],
    }
    return f"<shown>{base64.b64encode(zlib.compress(json.dumps(facts).encode())).decode()}</shown>"


@pytest.mark.parametrize("name", sorted(DEMOS))
def test_architect_answers_a_demo_goal_with_its_benchmark(name: str) -> None:
    """The answer validates and is the demo's own."""
    text = asked("architect_benchmark", {"goal": DEMOS[name].goal.upper()})
    assert DEMOS[name].benchmark() == Benchmark.model_validate_json(text)


def test_architect_refuses_another_goal_and_names_the_demos() -> None:
    """A refusal says what is possible and what to configure."""
    with pytest.raises(Refused) as no:
        asked("architect_benchmark", {"goal": "Cure the common cold"})
    assert no.value.kind == "unsupported_goal"
    assert all(demo.goal in no.value.message for demo in DEMOS.values())
    assert "real model" in no.value.message


def test_architect_says_that_it_cannot_read_wishes() -> None:
    """Notes become a limitation, not a silent nothing."""
    text = asked("architect_benchmark", {"goal": CIRCLES.goal, "notes": "weigh beauty"})
    assert "not considered" in Benchmark.model_validate_json(text).limitations[-1]


def test_equal_questions_have_equal_answers_whatever_the_call_seed() -> None:
    """The seed that counts is the one in the question."""
    one, two = (asked("birther_mutation", birth(), seed) for seed in (1, 2))
    assert one == two


def test_siblings_differ_by_slot() -> None:
    """Every slot gets its own child."""
    slots = [f"a{k:04d}" for k in range(9, 17)]
    children = {birther.mutation(birth(slot)).files[0].text for slot in slots}
    assert len(slots) == len(children)
    assert PLAIN not in children


def test_a_rejected_child_is_not_proposed_again() -> None:
    """What was refused leads to something else."""
    first = birther.mutation(birth())
    rejected = [{"reason": "duplicate", "detail": "", "mutation": first.model_dump(mode="json")}]
    second = birther.mutation(birth(rejected=rejected))
    assert second.action == "mutate"
    assert first.files[0].text != second.files[0].text


def test_the_random_strategy_does_not_read_the_parent() -> None:
    """Another parent, the same random program."""
    other = PLAIN.replace("columns = 6", "columns = 5")
    one, two = (birther.mutation(birth(strategy="random", source=s)) for s in (PLAIN, other))
    assert one == two


def test_a_child_touches_the_solver_only() -> None:
    """The fixed part stays as it is."""
    mutation = Mutation.model_validate_json(asked("birther_mutation", birth()))
    assert tuple(edit.path for edit in mutation.files) == ("solver.py",)
    assert mutation.delete == ()


def test_variants_are_as_many_as_asked_for_and_all_different() -> None:
    """Two batches of twenty are forty prompts."""
    batches = [
        Variants.model_validate_json(
            asked("birther_variants", {"base_prompt": "Work.", "first": first, "count": 20})
        ).variations
        for first in (0, 20)
    ]
    assert len({*batches[0], *batches[1]}) == 40
    assert (
        len(set(birther.variants({"base_prompt": "Work.", "first": 0, "count": 250}).variations))
        == 250
    )


@pytest.mark.parametrize(("births", "elites"), [(1, 2), (2, 2), (3, 2), (5, 3), (4, 1)])
def test_briefs_add_up_and_nobody_has_more_than_half(births: int, elites: int) -> None:
    """The births are shared out, at most half rounded up where there are two elites."""
    names = [f"a{k:04d}" for k in range(1, elites + 1)]
    ranked = [{"rank": 1, "agent": names[0], "score": 2.3, "measured": MEASURED}]
    briefs = tweaker.briefs({"ranked": ranked, "notes": [], "births": births, "elites": names})
    assert Briefs.model_validate_json(briefs.model_dump_json()) == briefs
    shares = [parent.children for parent in briefs.parents]
    assert births == sum(shares)
    assert elites == 1 or max(shares) <= (births + 1) // 2


def test_an_epoch_is_one_reply_with_code_for_the_tools() -> None:
    """Run, save, log, end."""
    text = turn("epoch", ("system", "You work."), ("user", "Goal"))
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    compile(code[1], "reply", "exec")
    for tool in ("run_command(", "save_candidate(", "log_activity(", "final_answer("):
        assert tool in code[1]


def test_reflection_looks_first_and_proposes_then() -> None:
    """The proposal is computed from what the first reply printed."""
    first = turn("reflection", ("system", "s"), ("user", "reflect"))
    assert "read_context()" in first
    seen = [("system", "s"), ("user", "reflect"), ("assistant", first)]
    second = turn("reflection", *seen, ("user", f"Observation:\n{shown(PLAIN)}"))
    code = re.search(r"```python\n(.*?)```", second, re.DOTALL)
    assert code is not None
    proposed: dict = {}
    tools = {"propose_mutation": proposed.update, "final_answer": lambda _: None}
    tools["propose_mutation"] = lambda **named: proposed.update(named)
    exec(code[1], tools)
    assert proposed["action"] == "mutate"
    assert "PROBLEM = 'circle_packing'" in proposed["files"]["solver.py"]


def test_a_rejected_reflection_is_followed_by_another_one() -> None:
    """Every further turn proposes a new change."""
    seen = [("user", "reflect"), ("assistant", "look"), ("user", shown(PLAIN))]
    one = turn("reflection", *seen)
    two = turn("reflection", *seen, ("assistant", one), ("user", "rejected: duplicate"))
    assert one != two


def test_reflection_without_anything_readable_keeps_the_genome() -> None:
    """Damaged output is no reason to crash."""
    text = turn("reflection", ("user", "x"), ("assistant", "look"), ("user", "<shown>AAAA</shown>"))
    assert 'action="unchanged"' in text


def test_plain_chat_says_what_this_is() -> None:
    """No pretence."""
    body = {"model": "offline", "messages": [{"role": "user", "content": "Who are you?"}]}
    assert "search engine, not a language model" in answer(read(body))
