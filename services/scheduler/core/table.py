"""What an auditor needs to decide again: the fold, and each decision by its name."""

from services.scheduler.core.next_step import next_step
from services.scheduler.core.view import View

VIEW = View
DECIDE = {"next_step@1": next_step}
