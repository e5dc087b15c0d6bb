"""What an audit re-decides: the fold and the decisions, under the names that events carry."""

from services.lineage.core import phase_heads, registration
from services.lineage.core.view import View

VIEW = View
REGISTER, HEAD = "register@1", "head@1"
DECIDE = {REGISTER: registration.decide, HEAD: phase_heads.decide}
