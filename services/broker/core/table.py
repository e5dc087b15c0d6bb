"""What an auditor needs to decide again: the fold, and each decision by its name."""

from services.broker.core import budget
from services.broker.core.view import View

SETTLE = "settle@1"

VIEW = View
DECIDE = {SETTLE: budget.settle}
