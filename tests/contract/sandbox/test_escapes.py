"""Every script of tests/escape on both backends: nothing escapes, every limit bites."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import daemon, escapes
from tests.support.escapes import Script, judge

Found = dict[str, Any]
ALL = [escapes.read(path) for path in escapes.SCRIPTS]
PLAIN = [script for script in ALL if script.about.get("control") == "plain"]


@pytest.fixture(scope="module", params=["local", "docker"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Found:
    if request.param == "docker" and (reason := daemon.trouble()):
        pytest.skip(reason)
    return escapes.tried(request.param, tmp_path_factory.mktemp("home"))


def gap_of(script: Script, found: Found) -> bool:
    return script.about.get("limit") in found["not_enforced"]


def test_nothing_escapes(found: Found) -> None:
    """What no limit holds is what preflight lists as not enforced, and nothing else."""
    judged = {item["script"]: judge(item) for item in found["attempts"]}
    allowed = {s.path.stem: {"unbounded"} if gap_of(s, found) else set() for s in ALL}
    wrong = {
        name: verdict
        for name, verdict in judged.items()
        if verdict.kind not in {"refused", "bounded", "held"} | allowed[name]
    }
    assert len(judged) == len(ALL) >= 40 and not wrong


def test_every_limit_that_is_listed_as_enforced_bites(found: Found) -> None:
    listed = {re.sub(r" \(.*", "", limit) for limit in found["enforced"]}
    shown = {script.about["limit"] for script in ALL if "limit" in script.about}
    assert listed <= shown
    assert set(found["not_enforced"]) <= shown | {"state by overlay"}


def test_evidence_holds_nothing_of_the_host(found: Found) -> None:
    """Links were not followed, special files not opened, no core was kept, names were checked."""
    left = {item["script"]: item for item in found["attempts"]}
    secret = hashlib.sha256(escapes.CANARY_TEXT.encode()).hexdigest()
    assert all(file["sha256"] != secret for item in left.values() for file in item["files"])
    reasons = [item["reason"] for item in left["link_to_secret"]["rejected"]]
    assert reasons == ["symbolic link"] * 3 and not left["link_to_secret"]["files"]
    assert len(left["leave_special_files"]["rejected"]) == 2
    assert len(left["leave_strange_names"]["rejected"]) == 4
    assert not left["dump_core"]["files"]
    swapped = [file["sha256"] for file in left["swap_folder_for_link"]["files"]]
    assert set(swapped) <= {hashlib.sha256(b"bait").hexdigest()}


def test_output_and_log_are_bounded(found: Found) -> None:
    flood = next(item for item in found["attempts"] if item["script"] == "flood_output")
    assert flood["stdout_truncated"] and len(flood["stdout"]) <= 1 << 20
    assert len(flood["log"]) <= escapes.LIMITS["log_kb"] * 1024


def test_no_process_stays_behind(found: Found) -> None:
    running = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if readable(path)]
    assert not [line for line in running if line.startswith(b"kadath-survivor")]


def readable(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:
        return False


@pytest.mark.parametrize("script", PLAIN, ids=lambda script: script.path.stem)
def test_the_same_script_succeeds_outside_a_sandbox(script: Script) -> None:
    """Else its failure inside would show nothing."""
    if os.geteuid() != 0:
        pytest.skip("needs root, as the sandboxed attempts would profit from")
    with escapes.host() as env:
        command = [sys.executable, str(script.path)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=30)
    assert "ESCAPED" in done.stdout, done.stderr


def test_the_table_of_the_docs_lists_every_attempt() -> None:
    """`make escapes` writes it."""
    text = escapes.TABLE.read_text()
    assert [s.path.name for s in ALL] == re.findall(r"\.\./tests/escape/(\w+\.py)", text)
    assert "escaped:" not in text and "unclear:" not in text


def test_try_refuses_a_limit_that_does_not_exist(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kadath", "--home", str(tmp_path), "sandbox", "try"]
    limits = json.dumps({"memory": 1})
    done = subprocess.run(
        [*command, "--limits", limits, str(escapes.SCRIPTS[0])],
        cwd=escapes.ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2 and "memory" in done.stderr
