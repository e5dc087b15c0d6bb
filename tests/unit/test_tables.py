"""What an auditor decides by is what the running service decides by."""

import importlib

import pytest

from schemas import SERVICES
from schemas.commands.export import ExportRun


@pytest.mark.parametrize("name", SERVICES)
def test_every_reaction_is_decided_again_by_the_same_function(name):
    """Equal names, equal functions, equal fold."""
    service = importlib.import_module(f"services.{name}.service").SERVICE
    table = importlib.import_module(f"services.{name}.core.table")
    assert service.view is table.VIEW
    reactions = {reaction.name: reaction.decide for reaction in service.reactions}
    assert reactions == {key: table.DECIDE[key] for key in reactions}


def test_an_export_names_its_folder():
    """The command of lineage."""
    assert ExportRun(run="r", command="c", path="/x").path == "/x"
