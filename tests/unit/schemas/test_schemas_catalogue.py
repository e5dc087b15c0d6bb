"""The contract: every event has an owner, an example, and one way to be written."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from schemas import CATALOGUE, OWNER, SERVICES, decode, encode, generate
from schemas.events import SHARED
from schemas.upcasts import UPCASTS, upcast
from schemas.values.answers import ANSWERS

EXAMPLES = Path(generate.__file__).parent / "examples"
FILES = sorted(EXAMPLES.glob("*/*/*.json"))


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(EXAMPLES)) for path in paths]


@pytest.mark.parametrize("kind", sorted(CATALOGUE), ids=str)
def test_every_event_has_an_example(kind):
    """Of its newest version."""
    assert list((EXAMPLES / kind[0] / str(kind[1])).glob("*.json"))


@pytest.mark.parametrize("kind", sorted(UPCASTS), ids=str)
def test_every_old_version_has_an_example(kind):
    """Old logs are read for ever."""
    assert list((EXAMPLES / kind[0] / str(kind[1])).glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=names(FILES))
def test_an_example_decodes_and_comes_back_the_same(path):
    """Its folder says its type and version; an old version comes back as the newest."""
    written = json.loads(path.read_text())
    assert [written["type"], str(written["v"])] == [path.parts[-3], path.parts[-2]]
    found = decode(path.read_bytes(), CATALOGUE)
    assert (found.type, found.v) in CATALOGUE
    assert found == decode(encode(found), CATALOGUE)
    if (written["type"], written["v"]) not in UPCASTS:
        assert written == json.loads(encode(found))


def test_an_old_approval_was_a_persons():
    """Version 1 had no policies."""
    old = EXAMPLES / "benchmark.approved" / "1" / "operator.json"
    found = decode(old.read_bytes(), CATALOGUE)
    assert (found.v, found.data.automatic, found.data.approved_by) == (2, False, "operator")
    assert upcast("x.y", 3, {}) == ("x.y", 3, {})


@pytest.mark.parametrize("kind", sorted(CATALOGUE), ids=str)
def test_every_entity_has_an_owner(kind):
    """One service, or one for each id."""
    cls = CATALOGUE[kind]
    owners = {OWNER[cls.entity()]} if cls.entity() in OWNER else set(SHARED[cls.entity()])
    assert owners <= set(SERVICES)
    assert cls.entity() in cls.__module__


@pytest.mark.parametrize(
    "body",
    [b"[]", b"{", b'{"type": "run.exploded", "v": 1, "data": {}}', b'{"type": "run.paused"}'],
)
def test_what_is_no_known_event_is_refused(body):
    """Never ignored."""
    with pytest.raises(ValueError):
        decode(body, CATALOGUE)


def test_an_unknown_field_is_refused():
    """A typo must not become a default."""
    body = json.loads(FILES[0].read_text())
    body["data"]["surprise"] = 1
    with pytest.raises(ValidationError):
        decode(json.dumps(body).encode(), CATALOGUE)


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_every_field_that_a_contract_demands_is_published(name):
    """The schema that the model is sent names each of them, and no other is accepted."""
    schema = ANSWERS[name].model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    objects = [part for part in parts if part.get("type") == "object"]
    assert objects and all(part["additionalProperties"] is False for part in objects)
    assert set(ANSWERS[name].model_fields) == set(schema["properties"])


def test_generated_files_are_up_to_date(monkeypatch, capsys):
    """`make catalogue` writes them."""
    monkeypatch.setattr("sys.argv", ["generate", "--check"])
    with pytest.raises(SystemExit) as ended:
        generate.main()
    assert (ended.value.code, capsys.readouterr().out) == (0, "")


def test_a_stale_file_is_named_and_written_again(monkeypatch, capsys, tmp_path):
    """Check fails until it is written."""
    monkeypatch.setattr(generate, "HERE", tmp_path)
    monkeypatch.setattr("sys.argv", ["generate", "--check"])
    with pytest.raises(SystemExit) as ended:
        generate.main()
    assert ended.value.code and "stale: CATALOGUE.md" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["generate"])
    generate.main()
    assert all(path.read_text() == text for path, text in generate.files().items())
