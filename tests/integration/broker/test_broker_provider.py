"""litellm in its own process: the way taken when a run names no server."""

import os
from pathlib import Path

import pytest

from tests.integration.broker.stage import CAST, VARIANTS, Stage
from tests.support.kernel import kernel
from tests.support.stub_model import Reply, StubModel, in_turn

KEY = "sk-test-0123456789abcdef"


def test_litellm_answers_from_its_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is in the child's environment only, statuses pass, the child ends with the kernel."""
    script = in_turn(Reply(500, {"error": {"message": "broken"}}), VARIANTS)
    with StubModel(script) as stub:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_API_BASE", stub.base_url)
        with kernel(tmp_path, *CAST) as found:
            stage = Stage(found, "r20260101-000000-0000ff")
            found.run(_story(stage))
            children = _providers()
            assert len(children) == 1
            assert KEY not in Path(f"/proc/{children[0]}/cmdline").read_text()
        assert _providers() == []
        assert stub.tokens == {f"Bearer {KEY}"}


async def _story(stage: Stage) -> None:
    await stage.open(None, model="openai/some-model")
    answer = await stage.complete(timeout_seconds=150.0)
    assert "content" in answer, answer
    failed = await stage.events("model_call.failed")
    assert [(f.data.kind, f.data.http_status) for f in failed] == [("provider", 500)]


def _providers() -> list[int]:
    """Processes of ours that run the provider."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        if b"services.broker.provider" in line and parent == os.getpid():
            found.append(int(folder.name))
    return found
