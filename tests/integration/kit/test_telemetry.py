"""Traces go to a real OTLP endpoint when one is set; logs are JSON lines, always."""

import asyncio
import io
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from kadath.cli.requests import Size
from services.kit import telemetry
from tests.support.machine import Machine, offline_model, until_settled


class Collector:
    """Keeps every span that is posted to it."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer._keep(body)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _keep(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    yield found
    found.close()


@pytest.fixture
def own_logging() -> Iterator[None]:
    """`set_up` takes over the root logger and the tracer of the process."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    root.handlers[:] = before
    telemetry._tracer = telemetry._provider = None
    root.setLevel(level)


def test_without_an_endpoint_nothing_is_traced(own_logging: None, monkeypatch):
    """Spans cost nothing and headers are absent."""
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    telemetry.set_up("test", stream=io.StringIO())
    with telemetry.span("a/b", "r1", None):
        assert telemetry.traceparent() is None
    telemetry.flush()


def test_logs_are_json_lines(own_logging: None):
    """Control characters of strangers and line breaks stay inside their line."""
    out = io.StringIO()
    telemetry.set_up("test", stream=out)
    log = logging.getLogger("somewhere")
    log.info("organism said %s", "\x1b[31mred\nsecond \ud800")
    try:
        raise ValueError("broken")
    except ValueError:
        log.exception("failed")
    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    assert first["message"] == "organism said \x1b[31mred\nsecond \ud800"
    assert (first["level"], first["logger"]) == ("INFO", "somewhere")
    assert "ValueError: broken" in second["error"]


def test_a_span_reaches_the_endpoint_with_its_cause(
    collector: Collector, own_logging: None, monkeypatch
):
    """The header of a caused span links to the span that caused it."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    telemetry.set_up("test", stream=io.StringIO())
    with telemetry.span("scheduler/next_step@1", "r1", "main"):
        header = telemetry.traceparent()
    with telemetry.span("sandbox/attempts", "r1", "e001x1-a0001", link=header):
        pass
    telemetry.flush()
    cause, caused = sorted(collector.spans, key=lambda span: span.name, reverse=True)
    assert (cause.name, caused.name) == ("scheduler/next_step@1", "sandbox/attempts")
    assert header is not None
    assert header.split("-")[1:3] == [cause.trace_id.hex(), cause.span_id.hex()]
    assert [link.span_id for link in caused.links] == [cause.span_id]
    attributes = {a.key: a.value.string_value for a in caused.attributes}
    assert attributes == {"kadath.run": "r1", "kadath.about": "e001x1-a0001"}


@pytest.mark.timeout(120)
def test_a_whole_run_can_be_followed_in_traces(collector: Collector, tmp_path: Path):
    """Every event of a reaction or an effect names the span in which it was said."""
    machine = Machine(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    machine.start()
    try:
        with offline_model() as url:
            log = asyncio.run(_run(machine, url))
    finally:
        machine.stop()
    spans = {(s.trace_id.hex(), s.span_id.hex()): s for s in collector.spans}
    assert {"scheduler/next_step@1", "sandbox/attempts", "sandbox/attempt"} <= {
        s.name for s in spans.values()
    }
    said = [r.envelope for r in log if r.envelope.traceparent]
    assert len(said) > 0.9 * len(log)
    for envelope in said:
        _, trace, span, _ = str(envelope.traceparent).split("-")
        assert spans[trace, span].name == envelope.by


async def _run(machine: Machine, url: str):  # type: ignore[no-untyped-def]
    run = await machine.request(url, "sorting_network", Size(population=4, epochs=1))
    assert (await until_settled(machine, run)).completed is not None
    async with machine.client() as client:
        return [r async for r in client.events(f"kadath.evt.{run}.>", lambda r: False, False)]
