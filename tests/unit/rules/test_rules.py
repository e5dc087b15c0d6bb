"""Every rule that can be asked by name, by the cases that are checked in."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kadath.audit import rules
from kadath.cli import commands_rules
from kadath.cli.app import app

FILE = Path(__file__).parents[2] / "rules" / "cases.json"
CASES = json.loads(FILE.read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_case_comes_out_as_expected(case):
    """The same function that decides runs."""
    assert rules.check([case]) == []


def test_every_rule_has_a_meaning_and_a_case():
    """Nothing can be asked that is not shown."""
    assert all(rules.meaning(op).endswith(".") for op in rules.OPS)
    assert set(rules.OPS) - {case["op"] for case in CASES} <= {"call_key", "event_id"}


def test_call_keys_and_event_ids_follow_from_what_they_name():
    """The same on every machine."""
    asked = {"run": "r", "caller": "x", "request": {}}
    key = rules.answer("call_key", asked)
    assert key["id"] == f"c{key['call'][:31]}"
    event = {"entity": "run", "entity_id": "main", "position": 0}
    assert rules.answer("event_id", event) == rules.answer("event_id", event | {"run": RUN})


RUN = "r20260101-000000-000000"


@pytest.mark.parametrize(
    ("op", "given"),
    [
        ("nothing", {}),
        ("path", []),
        ("path", {}),
        ("path", {"path": 5}),
        ("score", {"benchmark": {}}),
        ("next_step", {"events": [{"type": "run.exploded"}]}),
    ],
)
def test_bad_input_has_a_reason(op, given):
    """Never a traceback."""
    with pytest.raises(rules.BadInput, match=r"\w+ \w+"):
        rules.answer(op, given)


def test_an_expectation_names_only_what_it_is_about():
    """Types count: true is not one, and a list has its length."""
    assert rules.agrees({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2, "c": 3}], "d": 4})
    assert not rules.agrees({"a": 1}, {"a": True})
    assert not rules.agrees([1], [1, 2])
    assert not rules.agrees({"a": 1}, {})


def run(*arguments: str, stdin: str | None = None):
    return CliRunner().invoke(app, ["rules", *arguments], input=stdin)


def test_the_command_lists_asks_and_checks(tmp_path):
    """Zero when all cases hold; six, with each name, when one does not."""
    assert commands_rules and "finalize" in run().stdout
    assert set(rules.OPS) == set(json.loads(run("--json").stdout))
    assert json.loads(run("finalize", '{"attempt_seconds": 60}').stdout) == {"finalize_seconds": 6}
    asked = run("finalize", stdin='{"attempt_seconds": 20}')
    assert json.loads(asked.stdout) == {"finalize_seconds": 2}
    assert run("--check", str(FILE)).exit_code == 0
    wrong = [{"name": "off by one", "op": "finalize", "input": {"attempt_seconds": 60}}]
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps([wrong[0] | {"expect": {"finalize_seconds": 7}}]))
    checked = run("--check", str(path))
    assert (checked.exit_code, "off by one" in checked.stdout) == (6, True)
    assert run("--check", str(path), "--json").exit_code == 6


def test_wrong_usage_is_code_two(tmp_path):
    """A rule that is none, input that is no JSON, cases that are no list."""
    path = tmp_path / "cases.json"
    path.write_text("{}")
    for arguments in (("nothing", "{}"), ("path", "{"), ("--check", str(path))):
        assert run(*arguments).exit_code == 2
