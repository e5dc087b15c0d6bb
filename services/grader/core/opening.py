"""The start of a judgement: what is there, what is missing, what has to be measured."""

import fnmatch
from datetime import datetime

from schemas import Draft
from schemas.canonical import listed
from schemas.events.evidence import EvidenceFrozen
from schemas.events.grading import GradingOpened
from schemas.events.measurement import MeasurementRequested
from schemas.ids import seed_of
from schemas.values.benchmark import Benchmark, Judged, RequiredOutput
from schemas.values.population import AttemptRow, Member
from schemas.values.tree import Tree
from services.grader.core.view import View


def open_grading(view: View, about: str, now: datetime) -> list[Draft]:
    """One `grading.opened` for an attempt of a closed epoch."""
    row = view.rows.get(about)
    if view.terminal or view.closed is None or row is None or about in view.judging:
        return []
    assert view.benchmark is not None and view.epoch is not None
    evidence = view.evidence.get(about)
    missing = missing_outputs(view, view.benchmark, evidence)
    opened = GradingOpened(
        attempt=about,
        agent=row.agent,
        genome=evidence.genome if evidence else _genome(view, row),
        evidence=evidence.manifest.sha256 if evidence else None,
        missing=missing,
        forced_failure=forced_failure(row, evidence, missing),
        programs=tuple(program.id for program in view.benchmark.programs),
        judged=is_judged(view.benchmark),
    )
    return [Draft(about, opened, view.epoch.epoch)]


def _genome(view: View, row: AttemptRow) -> str:
    """Without evidence the genome is the one that the epoch opened with."""
    assert view.epoch is not None
    members = listed(view.read(view.epoch.agents), Member)
    return next(member.genome for member in members if member.agent == row.agent)


def forced_failure(
    row: AttemptRow, evidence: EvidenceFrozen | None, missing: tuple[str, ...]
) -> str | None:
    """Why no judgement can help, or None."""
    if evidence is None:
        return "no evidence"
    if row.outcome == "failed":
        return "the attempt failed"
    if missing:
        return f"missing: {', '.join(missing)}"
    return None


def missing_outputs(
    view: View, benchmark: Benchmark, evidence: EvidenceFrozen | None
) -> tuple[str, ...]:
    """Required outputs that the agent did not make in this attempt.

    Inherited files count only when the benchmark is cumulative.
    """
    if evidence is None:
        return ()
    tree = Tree.model_validate_json(view.read(evidence.manifest))
    paths = [f.path for f in tree.files if benchmark.cumulative or f.mark != "inherited"]
    absent = [o for o in benchmark.required_outputs if not _present(o, evidence, paths)]
    return tuple(output.evidence_ref for output in absent)


def _present(output: RequiredOutput, evidence: EvidenceFrozen, paths: list[str]) -> bool:
    kind, _, tail = output.evidence_ref.partition(":")
    match kind:
        case "candidate":
            return evidence.candidate is not None
        case "activity":
            return evidence.activity > 0
        case "artifacts":
            return any(path.startswith("artifacts/") for path in paths)
        case "file":
            return any(_matches(path, tail) for path in paths)
        case _:  # external: the measurement itself says so later
            return True


def _matches(path: str, pattern: str) -> bool:
    """Globs are relative to the workspace; `*` does not cross a slash."""
    path = path.removeprefix("workspace/")
    parts, patterns = path.split("/"), pattern.split("/")
    if len(parts) != len(patterns):
        return False
    return all(fnmatch.fnmatchcase(p, q) for p, q in zip(parts, patterns, strict=True))


def is_judged(benchmark: Benchmark) -> bool:
    """Whether any item needs a model; without one, grading costs no model call."""
    sources = [
        *(rule.source for rule in benchmark.criteria),
        *(rule.source for rule in benchmark.tie_breaks),
        *(rule.source for rule in benchmark.failures),
        *(rule.source for rule in benchmark.anti_fraud),
    ]
    return any(isinstance(source, Judged) for source in sources)


def request_measurement(view: View, about: str, now: datetime) -> list[Draft]:
    """One `measurement.requested` for `<attempt>-m-<program>`."""
    attempt, _, program = about.partition("-m-")
    judging = view.judging.get(attempt)
    if judging is None or judging.scored or program in judging.requested:
        return []
    opened = judging.opened
    if opened.forced_failure is not None or opened.evidence is None:
        return []
    assert view.epoch is not None
    requested = MeasurementRequested(
        attempt=attempt,
        agent=opened.agent,
        program=program,
        evidence=opened.evidence,
        seed=seed_of(view.epoch.seed, program),
    )
    return [Draft(about, requested, view.epoch.epoch)]


def measurements_of(view: View, attempt: str) -> list[str]:
    judging = view.judging.get(attempt)
    return [f"{attempt}-m-{p}" for p in judging.opened.programs] if judging else []
