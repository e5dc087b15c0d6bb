"""Rules of turnover: cohorts, children, mutations, genomes."""

from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from kadath.audit.rules_past import SHA, Json, texts, tree_of
from schemas import digest, ids
from schemas.events.birth import BirthRequested
from schemas.values.answers import Briefs
from schemas.values.mutation import Mutation
from schemas.values.population import RankedRow
from services.architect.core import contract
from services.evolver.core import birth, brief
from services.evolver.core import cohorts as rules
from services.evolver.core.view import Birth, Selection
from services.lineage.core import genome as identity
from services.lineage.core import mutation_rules, paths


def cohorts(given: Json) -> Json:
    """Elite, middle and culled of a board, or of so many successes and failures."""
    board = given.get("board") or _board(given.get("successes", 0), given.get("failures", 0))
    ranked = [_row(n, row) for n, row in enumerate(board, start=1)]
    rule = rules.replace_all_but_elite if given.get("rule") == "random" else rules.assign
    found = rule(ranked, given.get("population", len(ranked)))
    sizes = [len(found.elite), len(found.middle), len(found.culled)]
    listed = {"elite": found.elite, "middle": found.middle, "culled": found.culled}
    names = {cohort: list(agents) for cohort, agents in listed.items()}
    return {"sizes": sizes, "births": found.births} | (names if "board" in given else {})


def _board(successes: int, failures: int) -> list[Json]:
    outcomes = ["success"] * successes + ["failed"] * failures
    return [{"agent": ids.agent_id(n), "outcome": o} for n, o in enumerate(outcomes, start=1)]


def _row(position: int, row: Json) -> RankedRow:
    return RankedRow(
        rank=position,
        agent=row["agent"],
        genome=SHA,
        outcome=row.get("outcome", "success"),
        score=Decimal(0),
        tie_break=Decimal(0),
    )


def children(given: Json) -> Json:
    """How many children a parent may have, and what is wrong with the briefs."""
    elite, births = given["elite"], given["births"]
    parents = [{"brief": "x"} | parent for parent in given.get("parents", ())]
    try:
        found = Briefs.model_validate({"elite_characteristics": [], "parents": parents})
    except ValidationError as error:
        broken = [".".join(map(str, e["loc"])) + ": " + e["msg"] for e in error.errors()]
    else:
        broken = [v.message for v in brief.brief_violations(found, elite, births)]
    return {"most": rules.most_children(births, len(elite)), "violations": broken}


def mutation(given: Json) -> Json:
    """A mutation applied to a parent's files, or the reason why it is rejected."""
    try:
        proposed = Mutation.model_validate(given["mutation"])
    except ValidationError as error:
        return {"rejected": "invalid", "detail": error.errors()[0]["msg"]}
    parent = texts(given["files"])
    found = mutation_rules.apply(tree_of(parent), proposed)
    if isinstance(found, mutation_rules.Refusal):
        return {"rejected": found.reason, "detail": found.detail}
    known = {digest(content): content for content in parent.values()} | dict(found.contents)
    return {
        "files": {file.path: known[file.sha256].decode() for file in found.tree.files},
        "changed": {change.path: change.change for change in found.changed},
        "touches_code": found.touches_code,
    }


def path(given: Json) -> Json:
    """Whether a path may be part of a genome, and of a measuring program."""
    why = paths.violation(given["path"])
    return {"safe": why is None, "why": why, "program": contract.safe_path(given["path"])}


def genome(given: Json) -> Json:
    """The identity of a genome: git tree, prompt and runtime, nothing else."""
    return {"tree": _tree(given["files"]), "genome": _identity(given["files"], given)}


def _tree(files: dict[str, str]) -> str:
    entries = (identity.Entry(p, identity.blob_id(c)) for p, c in texts(files).items())
    return identity.git_tree(entries).id


def _identity(files: dict[str, str], given: Json) -> str:
    prompt = files.get(mutation_rules.PROMPT, "").encode()
    return identity.identity(_tree(files), digest(prompt), given.get("runtime_sha", SHA))


def duplicate(given: Json) -> Json:
    """Which known genome a candidate equals, by content and not by history."""
    wanted = _identity(given["files"], given)
    same = [name for name, files in given["known"].items() if _identity(files, given) == wanted]
    return {"duplicate_of": same[0] if same else None}


def retries(given: Json) -> Json:
    """What follows a rejected child: another try, or a clone of its parent."""
    last = BirthRequested(
        agent="a0002", parent="a0001", parent_genome=SHA, brief="x", tries=given["tries"]
    )
    drafts = birth._rejected(
        "e001-a0002", Selection(1, 1), Birth([last]), given.get("reason", "duplicate"), ""
    )
    data: Any = drafts[1].data
    return {"then": data.type, "clone": getattr(data, "clone", None)}


OPS = {
    "cohorts": cohorts,
    "children": children,
    "mutation": mutation,
    "path": path,
    "genome": genome,
    "duplicate": duplicate,
    "retries": retries,
}
