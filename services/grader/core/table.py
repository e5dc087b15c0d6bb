"""What an auditor needs to decide again."""

from services.grader.core.grading import advance, publish
from services.grader.core.measurement import record
from services.grader.core.opening import open_grading, request_measurement
from services.grader.core.view import View

VIEW = View
DECIDE = {
    "open@1": open_grading,
    "measure@1": request_measurement,
    "record@1": record,
    "advance@1": advance,
    "publish@1": publish,
}
