"""Secrets are found before they leave; what is no secret is left alone."""

import uuid

import pytest

from services.kit import edges
from services.kit.edges import Secrets


def test_a_secret_is_found_by_its_value(monkeypatch: pytest.MonkeyPatch):
    """Short values are no secrets: they stand everywhere."""
    monkeypatch.setenv("LONG", "hunter2-hunter2")
    monkeypatch.setenv("SHORT", "abc")
    secrets = Secrets(("LONG", "SHORT", "MISSING"))
    secrets.add("LATER", "another-value")
    secrets.add("EMPTY", "")
    assert secrets.leaked(b"x hunter2-hunter2 y") == "LONG"
    assert secrets.leaked(b"x another-value y") == "LATER"
    assert secrets.leaked(b"abc total_tokens 12") is None
    said = "abc hunter2-hunter2, another-value, total_tokens 12"
    assert secrets.redact(said) == "abc [secret LONG], [secret LATER], total_tokens 12"


def test_a_secret_is_resolved_by_its_name(monkeypatch: pytest.MonkeyPatch):
    """An unknown one is an error with its name."""
    monkeypatch.setenv("LONG", "hunter2-hunter2")
    secrets = Secrets(("LONG",))
    assert secrets.resolve("LONG") == "hunter2-hunter2"
    with pytest.raises(KeyError, match="OTHER"):
        secrets.resolve("OTHER")


def test_ids_of_commands_are_ordered_by_time():
    """Version 7, RFC variant."""
    made = [edges.uuid7() for _ in range(50)]
    assert all(uuid.UUID(one).version == 7 for one in made)
    assert sorted(one[:13] for one in made) == [one[:13] for one in made]
    assert len(set(made)) == 50
