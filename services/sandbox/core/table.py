"""What an auditor needs to decide again."""

from services.sandbox.core import attempt, queueing
from services.sandbox.core.view import View

VIEW = View
DECIDE = {
    "queue_epoch@1": queueing.queue_epoch,
    "queue_measurement@1": queueing.queue_measurement,
    "queue_reflection@1": queueing.queue_reflection,
    "queue_trial@1": queueing.queue_trial,
    "restart_held@1": attempt.restart_held,
    "cancel@1": attempt.cancel,
    "seal@1": attempt.seal,
}
