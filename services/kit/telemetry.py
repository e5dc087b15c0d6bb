"""OpenTelemetry when an endpoint is set, JSON logs always; both may be read without KADATH."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from services.kit import edges

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Link, Tracer

_tracer: "Tracer | None" = None
_provider: "TracerProvider | None" = None


def set_up(service: str, level: int = logging.INFO, stream: TextIO | None = None) -> None:
    """Logs as JSON lines to `stream`; spans to OTEL_EXPORTER_OTLP_ENDPOINT when it is set."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for noisy in ("nats", "faststream", "aiohttp.access", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    if edges.environment("OTEL_EXPORTER_OTLP_ENDPOINT"):
        _export_spans(service)


def _export_spans(service: str) -> None:
    """The SDK retries a dead endpoint noisily, so without an endpoint there is no exporter."""
    global _tracer, _provider
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    _provider = TracerProvider(resource=Resource.create({"service.name": service}))
    _provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(_provider)
    _tracer = _provider.get_tracer("kadath")


def flush() -> None:
    """Send what is left; there are no spans after that."""
    if _provider is not None:
        _provider.shutdown()


@contextmanager
def span(by: str, run: str, about: str | None, link: str | None = None) -> Iterator[None]:
    """One span for a decision or an effect; `link` is the traceparent of what caused it."""
    if _tracer is None:
        yield
        return
    attributes = {"kadath.run": run, "kadath.about": about or ""}
    links = _links(link)
    with _tracer.start_as_current_span(by, attributes=attributes, links=links):
        yield


def _links(traceparent_text: str | None) -> "list[Link]":
    if not traceparent_text:
        return []
    from opentelemetry.trace import Link, get_current_span
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    context = TraceContextTextMapPropagator().extract({"traceparent": traceparent_text})
    return [Link(get_current_span(context).get_span_context())]


def traceparent() -> str | None:
    """The W3C header of the current span, or None without tracing."""
    if _tracer is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get("traceparent")


class JsonLines(logging.Formatter):
    """One JSON object a line; control characters of strangers stay escapes."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": edges.now().isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage()[:8000],
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)[-8000:]
        return json.dumps(line)
