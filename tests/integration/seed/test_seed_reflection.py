"""Reflection: facts are pulled, elites read, one mutation is written that the contract accepts."""

from pathlib import Path
from typing import Any

from schemas.values.mutation import Mutation
from tests.support.attempt import Attempt
from tests.support.stub_model import StubModel, fenced, in_turn


def context(root: Path) -> dict[str, Any]:
    tree = root / "elites" / "a0007"
    tree.mkdir(parents=True)
    (tree / "solver.py").write_text("BEST = 1\n")
    return {
        "agent": "a0001",
        "genome": "0" * 64,
        "rank": 3,
        "score": 1.5,
        "cohort": "middle",
        "measured": {"n": 1},
        "board": [],
        "elites": [{"agent": "a0007", "score": 2.0, "genome": "1" * 64, "tree": str(tree)}],
        "objective": "large",
        "criterion": "n",
        "seed": 1,
    }


def reflect(*answers: str) -> tuple[Any, list[dict[str, Any]], Any]:
    """The mutation, the chats and the result."""
    with StubModel(in_turn(*answers)) as stub, Attempt(purpose="reflection", passes=3) as attempt:
        attempt.context = context(attempt.root)
        (attempt.state / "candidate.json").write_text("1")
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") == 1
        return attempt.json("mutation.json"), stub.chats, attempt.json("result.json")


def test_a_reflection_reads_and_proposes_one_mutation() -> None:
    """One pass; context is not in the prompt (fault A11) but behind a tool."""
    code = """
facts = read_context()
best = facts['elites'][0]['agent']
text = read_elite_file(best, list_elite(best)[0])
files = {'solver.py': text + 'MORE = 2\\n'}
propose_mutation('mutate', f"rank {facts['rank']}", files, delete=['old.py'], prompt='New.')
final_answer('proposed')
"""
    raw, chats, result = reflect(fenced(code))
    mutation = Mutation.model_validate(raw)
    assert mutation.files[0].path == "solver.py"
    assert mutation.files[0].text == "BEST = 1\nMORE = 2\n"
    assert (mutation.action, mutation.reason, mutation.delete, mutation.prompt) == (
        "mutate",
        "rank 3",
        ("old.py",),
        "New.",
    )
    assert chats[0]["metadata"]["phase"] == "reflection"
    assert "a0007" not in str(chats[0]["messages"])
    assert (len(chats), result["passes"]) == (1, 1)


def test_without_a_proposal_the_genome_stays_unchanged() -> None:
    """And the file says so."""
    raw, _, _ = reflect(fenced("final_answer('nothing to do')"))
    assert Mutation.model_validate(raw).action == "unchanged"


def test_proposals_beyond_the_rules_are_refused_to_the_model() -> None:
    """Paths outside, .git in any spelling, nothing at all, too many operations, wrong types."""
    code = """
paths = ['../x', '/etc/x', 'a//b', '.git/config', 'a/.GIT/x', '.\\uff47it/x', 'a\\\\b', '']
wrong = [dict(files={p: 'x'}) for p in paths]
wrong += [{}, dict(files={str(n): '' for n in range(513)}), dict(files={'a': 1})]
wrong += [dict(prompt=''), dict(files=['a'])]
refused = 0
for arguments in wrong:
    try:
        propose_mutation('mutate', 'r', **arguments)
    except Exception:
        refused += 1
propose_mutation('unchanged', f'{refused} of {len(wrong)}')
final_answer('x')
"""
    raw, _, _ = reflect(fenced(code))
    assert raw["reason"] == "13 of 13"


def test_elites_are_reached_by_name_only() -> None:
    """Agents that are not elites, and paths beyond a tree, are refused."""
    code = """
refused = []
tries = [('a0001', 'x'), ('../input', 'task.json'), ('a0007', '../../input/task.json')]
for agent, path in [*tries, ('a0007', '/etc/passwd')]:
    try:
        refused.append(read_elite_file(agent, path))
    except Exception:
        pass
propose_mutation('unchanged', str(refused))
final_answer('x')
"""
    raw, _, _ = reflect(fenced(code))
    assert raw["reason"] == "[]"
