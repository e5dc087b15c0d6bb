"""What an auditor needs to decide again."""

from services.evolver.core import birth, brief, genesis, reflection, selection
from services.evolver.core.view import View

VIEW = View
DECIDE = {
    "genesis@1": genesis.advance,
    "genesis_resume@1": genesis.resume,
    "assign@1": selection.assign,
    "reflect@1": reflection.request,
    "settle@1": reflection.settle,
    "brief@1": brief.advance,
    "birth@1": birth.request,
    "birth_advance@1": birth.advance,
    "turn_over@1": selection.turn_over,
}
