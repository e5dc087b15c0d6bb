"""One-line mistakes that a test must notice."""

from typing import NamedTuple

SCORING = "services/grader/core/scoring.py"
RANKING = "services/grader/core/ranking.py"
CHUNKING = "services/grader/core/chunking.py"
FACTS = "services/grader/core/facts.py"
OPENING = "services/grader/core/opening.py"
GRADING = "services/grader/core/grading.py"
COHORTS = "services/evolver/core/cohorts.py"
BRIEF = "services/evolver/core/brief.py"
BIRTH = "services/evolver/core/birth.py"
SELECTION = "services/evolver/core/selection.py"
CONTRACT = "services/architect/core/contract.py"
FREEZING = "services/sandbox/core/freezing.py"
ATTEMPT = "services/sandbox/core/attempt.py"


class Mutant(NamedTuple):
    """`before` stands exactly once in the file; the tests are those of the file's service."""

    file: str
    before: str
    after: str

    @property
    def tests(self) -> str:
        return f"tests/unit/{self.file.split('/')[1]}"


MUTANTS = (
    Mutant(SCORING, "max(low, min(high, low + (high - low) * earned))", "low + high * earned"),
    Mutant(SCORING, "return max(ZERO, min(ONE, value))", "return max(ZERO, value)"),
    Mutant(SCORING, "return max(ZERO, min(ONE, value))", "return min(ONE, value)"),
    Mutant(SCORING, "    earned /= weights", "    earned /= 100"),
    Mutant(SCORING, "if triggered or fraud:", "if triggered:"),
    Mutant(SCORING, "if triggered or fraud:", "if triggered and fraud:"),
    Mutant(
        SCORING,
        "return _sourced(source, facts) is not False",
        "return _sourced(source, facts) is True",
    ),
    Mutant(
        SCORING, "return _sourced(source, facts) is True", "return bool(_sourced(source, facts))"
    ),
    Mutant(SCORING, "ONE - share if rule.direction", "share if rule.direction"),
    Mutant(SCORING, "return ONE if value is True else ZERO", "return ONE if value else ZERO"),
    Mutant(SCORING, "if isinstance(value, bool) or not", "if not"),
    Mutant(RANKING, "-s.score, -s.tie_break", "-s.tie_break, -s.score"),
    Mutant(RANKING, "agent_number(s.agent))", "s.agent)"),
    Mutant(RANKING, 's.outcome != "success"', 's.outcome == "success"'),
    Mutant(RANKING, "start=1", "start=0"),
    Mutant(CHUNKING, "s + OVERLAP_CHARS < len(text)", "s < len(text)"),
    Mutant(CHUNKING, ">= CHUNK_ENTRIES", "> CHUNK_ENTRIES"),
    Mutant(FACTS, "if needed and not cited:", "if not cited and False:"),
    Mutant(FACTS, 'if evidence_class(ref) != "self"', "if True"),
    Mutant(OPENING, 'benchmark.cumulative or f.mark != "inherited"', "True"),
    Mutant(GRADING, "if r.tries >= TRIES", "if r.tries > TRIES"),
    Mutant(COHORTS, "ROUND_HALF_UP)", '"ROUND_HALF_EVEN")'),
    Mutant(COHORTS, "(*lowest, *failures)", "tuple(lowest)"),
    Mutant(COHORTS, "share(population, CULL) - len(failures)", "share(population, CULL)"),
    Mutant(COHORTS, "return max(1, int(exact))", "return int(exact)"),
    Mutant(COHORTS, "(births + 1) // 2", "births // 2"),
    Mutant(BRIEF, "if parent.children > most:", "if parent.children > births:"),
    Mutant(BIRTH, "if last.tries + 1 >= TRIES:", "if last.tries >= TRIES:"),
    Mutant(SELECTION, "None if settled.clone else view", "view"),
    Mutant(CONTRACT, "abs(total - WEIGHT_TOTAL) <= WEIGHT_TOLERANCE", "total == WEIGHT_TOTAL"),
    Mutant(FREEZING, 'and f.mark != "inherited"', ""),
    Mutant(ATTEMPT, "attempt.crashes < attempt.queued", "attempt.restart < attempt.queued"),
)
