"""What a valid benchmark is."""

import pytest

from schemas.values.benchmark import (
    Benchmark,
    Binary,
    Criterion,
    FailureRule,
    Instructions,
    Judged,
    Kernel,
    Level,
    Levels,
    Measured,
    NumericLinear,
    Program,
    ProgramFile,
    RequiredOutput,
    ScoreRange,
)
from services.architect.core.contract import Inventory, safe_path, violations
from tests.support.given import benchmark, measured

GOOD = benchmark()
INF, NAN = float("inf"), float("nan")


def broken(contract: Benchmark, inventory: Inventory = Inventory()) -> list[str]:
    return [f"{v.path}: {v.message}" for v in violations(contract, inventory)]


def paths(contract: Benchmark) -> list[str]:
    return [v.path for v in violations(contract, Inventory())]


def criteria(*changes: dict[str, object]) -> Benchmark:
    base = GOOD.criteria[0]
    return benchmark(
        criteria=tuple(base.model_copy(update={"id": f"c{n}"} | c) for n, c in enumerate(changes))
    )


def test_a_good_benchmark_breaks_nothing():
    """Every rule at once."""
    assert broken(GOOD) == []


@pytest.mark.parametrize("name", ["objective", "metric", "attribution", "baseline"])
def test_texts_are_not_blank(name):
    """Whitespace says nothing."""
    assert [f"{name}: must not be blank"] == broken(benchmark(**{name: " \n"}))


@pytest.mark.parametrize("name", ["grader", "tweaker", "birther"])
def test_every_specialist_is_instructed(name):
    """Three texts, none of them blank."""
    texts = {"grader": "g", "tweaker": "t", "birther": "b"} | {name: " "}
    assert [f"instructions.{name}"] == paths(benchmark(instructions=Instructions(**texts)))


@pytest.mark.parametrize(
    "name", ["criteria", "tie_breaks", "failures", "anti_fraud", "required_outputs"]
)
def test_no_list_of_rules_is_empty(name):
    """A benchmark without one of them could not decide."""
    assert [f"{name}: must have at least one entry"] == broken(benchmark(**{name: ()}))


@pytest.mark.parametrize("name", ["evidence_requirements", "grader_rules"])
@pytest.mark.parametrize("value", [(), ("", " ")])
def test_blank_entries_do_not_count(name, value):
    """One real sentence at least."""
    assert [name] == paths(benchmark(**{name: value}))


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (1, 1, "low (1) must be below high (1)"),
        (2, 1, "low (2) must be below high (1)"),
        (0, INF, "low and high must be finite"),
        (NAN, 1, "low and high must be finite"),
        (0, 10**16, "low and high must be finite"),
        (1e-7, 1, "at most 6 decimals"),
    ],
)
def test_the_range_goes_upwards_between_finite_numbers(low, high, message):
    """Numbers too large to be exact are not finite for a formula."""
    found = broken(benchmark(score_range=ScoreRange(low=low, high=high)))
    assert [f"score_range: {message}"] == found


@pytest.mark.parametrize(
    ("weights", "valid"),
    [
        ((100,), True),
        ((28.6, 28.6, 28.6, 14.2), True),
        ((99.999,), True),
        ((100.001,), True),
        ((99.9989,), False),
        ((50, 49), False),
        ((33.3, 33.3, 33.3), False),
    ],
)
def test_weights_total_one_hundred_as_written(weights, valid):
    """Decimal sums: 28.6 three times and 14.2 are exactly 100."""
    found = paths(criteria(*({"weight": w} for w in weights)))
    assert ([] if valid else ["criteria"]) == found


def test_the_message_states_the_total():
    """Small models cannot add, but they can correct."""
    assert broken(criteria({"weight": 50}, {"weight": 49.5})) == [
        "criteria: weights must total 100, but 50 + 49.5 = 99.5"
    ]


@pytest.mark.parametrize("weight", [0, -1, NAN])
def test_a_weight_is_above_zero(weight):
    """A weight that is no number is not added."""
    assert "criteria.0.weight" in paths(criteria({"weight": weight}, {"weight": 100}))


def test_criteria_have_ids_and_descriptions():
    """Unique, not blank."""
    found = broken(criteria({"id": "x", "weight": 50}, {"id": "x", "weight": 50}))
    assert found == ["criteria: id 'x' stands more than once"]
    assert paths(criteria({"id": " ", "description": ""})) == [
        "criteria.0.id",
        "criteria.0.description",
    ]


@pytest.mark.parametrize(
    ("direction", "minimum", "target", "message"),
    [
        ("higher", 1, 1, "minimum and target must differ"),
        ("higher", 2, 1, "direction higher contradicts 2 -> 1"),
        ("lower", 1, 2, "direction lower contradicts 1 -> 2"),
        ("lower", NAN, 2, "minimum and target must be finite"),
        ("lower", 1, -INF, "minimum and target must be finite"),
        ("lower", 2, 1, None),
    ],
)
def test_a_linear_measurement_goes_its_direction(direction, minimum, target, message):
    """From minimum to target."""
    linear = NumericLinear(direction=direction, minimum=minimum, target=target)
    expected = [f"criteria.0.measurement: {message}"] if message else []
    assert expected == broken(criteria({"measurement": linear}))


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((("a", "x", 0), ("b", "x", 1)), []),
        ((("a", "x", 0), ("a", "x", 1)), ["measurement.levels"]),
        ((("a", "x", 0), ("b", "", 1)), ["measurement.levels.1.description"]),
        ((("a", "x", 0), ("b", "x", 1.1)), ["measurement.levels.1.fraction", "measurement.levels"]),
        ((("a", "x", 0.5), ("b", "x", 1)), ["measurement.levels"]),
        ((("a", "x", 0), ("b", "x", 0.0)), ["measurement.levels"]),
        ((), ["measurement.levels"]),
    ],
)
def test_levels_are_named_described_and_different(levels, expected):
    """One of them earns nothing."""
    made = Levels(levels=tuple(Level(id=i, description=d, fraction=f) for i, d, f in levels))
    found = paths(criteria({"measurement": made, "source": Judged()}))
    assert [f"criteria.0.{name}" for name in expected] == found


def test_a_kernel_fact_is_a_number():
    """It can be scaled, but is neither true nor false nor a level."""
    kernel = Kernel(fact="tokens")
    assert paths(criteria({"source": kernel})) == []
    assert paths(criteria({"source": kernel, "measurement": Binary()})) == [
        "criteria.0.measurement"
    ]
    failing = FailureRule(id="f", condition="x", source=kernel)
    assert broken(benchmark(failures=(failing,))) == [
        "failures.0.source: tokens is a number, not true or false"
    ]


def test_a_measured_source_names_a_program_or_a_connector():
    """And a JSON pointer."""
    assert paths(criteria({"source": Measured(provider="nobody", pointer="/x")})) == [
        "criteria.0.source.provider"
    ]
    assert paths(criteria({"source": measured("value")})) == ["criteria.0.source.pointer"]
    assert paths(criteria({"source": measured("")})) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"minimum": 1, "maximum": 1}, "tie_breaks.0"),
        ({"maximum": INF}, "tie_breaks.0"),
        ({"weight": 0}, "tie_breaks.0.weight"),
        ({"weight": 10**30}, "tie_breaks.0.weight"),
        ({"id": ""}, "tie_breaks.0.id"),
        ({"source": Measured(provider="?", pointer="")}, "tie_breaks.0.source.provider"),
    ],
)
def test_a_tie_break_has_bounds_and_a_weight(change, path):
    """A weight beyond exact arithmetic would stop the grading."""
    rule = GOOD.tie_breaks[0].model_copy(update=change)
    assert [path] == paths(benchmark(tie_breaks=(rule,)))


def test_conditions_and_checks_have_texts_and_ids():
    """Each list has ids of its own."""
    failure = GOOD.failures[0].model_copy(update={"condition": " "})
    fraud = GOOD.anti_fraud[0].model_copy(update={"check": " "})
    assert paths(benchmark(failures=(failure, failure))) == [
        "failures",
        "failures.0.condition",
        "failures.1.condition",
    ]
    assert paths(benchmark(anti_fraud=(fraud,))) == ["anti_fraud.0.check"]


@pytest.mark.parametrize(
    ("ref", "valid"),
    [
        ("candidate", True),
        ("activity", True),
        ("artifacts", True),
        ("file:*.txt", True),
        ("external:measure", True),
        ("file:", False),
        ("file: ", False),
        ("external:nobody", False),
        ("report", False),
        ("", False),
    ],
)
def test_a_required_output_is_something_the_kernel_can_see(ref, valid):
    """Present or not is no question for a model."""
    output = RequiredOutput(description="x", evidence_ref=ref)
    expected = [] if valid else ["required_outputs.0.evidence_ref"]
    assert expected == paths(benchmark(required_outputs=(output,)))


def test_a_required_output_is_described():
    """For the agents."""
    output = RequiredOutput(description="", evidence_ref="candidate")
    assert paths(benchmark(required_outputs=(output,))) == ["required_outputs.0.description"]


def test_a_program_has_a_command_files_and_time():
    """Its paths are relative and plain."""
    files = (ProgramFile(path="../x", text=""),)
    program = Program(id="measure", description="x", argv=(), files=files, timeout_seconds=0)
    assert paths(benchmark(programs=(program,))) == [
        "programs.0.argv",
        "programs.0.timeout_seconds",
        "programs.0.files.0.path",
    ]
    empty = Program(id="measure", description="x", argv=("x",))
    assert paths(benchmark(programs=(empty,))) == ["programs.0"]


@pytest.mark.parametrize("path", ["", "/a", "a//b", "a/../b", "./a", "a\0b", "a\\b", "a/"])
def test_unsafe_paths_are_refused(path):
    """Whatever leaves the folder or has two names."""
    assert not safe_path(path)
    assert safe_path("a/b.py")


def test_only_what_is_installed_can_be_used():
    """Tools and connectors of the inventory; a connector is a provider."""
    wants = benchmark(
        tools=("web", "mail"),
        connectors=("prices", "news"),
        required_outputs=(RequiredOutput(description="x", evidence_ref="external:news"),),
    )
    has = Inventory(frozenset({"web"}), frozenset({"prices"}))
    assert broken(wants, has) == [
        "tools.1: mail is not available here",
        "connectors.1: news is not configured here",
    ]


def test_every_violation_is_reported_at_once():
    """In document order."""
    contract = benchmark(objective="", criteria=(), tools=("x",))
    assert paths(contract) == ["objective", "criteria", "tools.0"]
    assert isinstance(GOOD.criteria[0], Criterion)
