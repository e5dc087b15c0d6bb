"""What an auditor needs to decide again."""

from services.architect.core.drafting import advance
from services.architect.core.view import View

VIEW = View
DECIDE = {"advance@1": advance}
