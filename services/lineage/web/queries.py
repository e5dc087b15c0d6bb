"""Questions to the read models, as SQL. Every answer is a list of plain rows."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import asyncpg

RUNS = "select * from runs order by run desc"
RUN = "select * from runs where run = $1"
EPOCHS = "select * from epochs where run = $1 order by epoch"
LAST_BOARD = "select max(epoch) from leaderboard where run = $1"
LEADERBOARD = """
    select l.*, p.parent, p.birth_epoch, p.status from leaderboard l
    left join population p using (run, agent)
    where l.run = $1 and l.epoch = $2 order by l.rank
"""
POPULATION = """
    select p.*, g.proposal, g.origin, g.branch, g.git_commit,
           (select l.rank from leaderboard l where l.run = p.run and l.agent = p.agent
            order by l.epoch desc limit 1) as last_rank,
           (select l.score from leaderboard l where l.run = p.run and l.agent = p.agent
            order by l.epoch desc limit 1) as last_score
    from population p left join genomes g using (run, genome)
    where p.run = $1 order by p.status, length(p.agent), p.agent
"""
ANCESTRY = "select * from ancestry where run = $1 order by epoch, length(agent), agent, change"
GENOMES = "select * from genomes where run = $1 order by epoch nulls first, proposal"
GENOME = "select * from genomes where run = $1 and genome = $2"
GENOME_LIKE = "select * from genomes where run = $1 and starts_with(genome, $2) limit 2"
PROPOSALS = "select * from proposals where run = $1 order by epoch nulls first, proposal"
ATTEMPTS = """
    select purpose, state, coalesce(outcome, '') as outcome, count(*) as count
    from attempts where run = $1 group by 1, 2, 3 order by 1, 2, 3
"""
EPOCH_ATTEMPTS = """
    select * from attempts where run = $1 and ($2::int is null or epoch = $2)
    order by epoch nulls first, attempt
"""
USAGE = """
    select role, case when role = 'specialist' then caller else '' end as caller,
           count(*) as calls, sum(prompt_tokens)::bigint as prompt_tokens,
           sum(completion_tokens)::bigint as completion_tokens,
           sum(cached_tokens)::bigint as cached_tokens, sum(cost) as cost
    from model_calls where run = $1 group by 1, 2 order by 1 desc, 2
"""
AGENT_USAGE = """
    select caller as agent, count(*) as calls, sum(prompt_tokens)::bigint as prompt_tokens,
           sum(completion_tokens)::bigint as completion_tokens, sum(cost) as cost
    from model_calls where run = $1 and role = 'organism' group by 1 order by length(caller), 1
"""
FAILED_CALLS = """
    select role, kind, count(*) as count from failed_calls
    where run = $1 group by 1, 2 order by 1, 2
"""
ACTIVITY = "select * from activity where run = $1 and seq > $3 order by seq desc limit $2"


async def ask(pool: asyncpg.Pool, sql: str, *arguments: object) -> list[dict[str, Any]]:
    return [plain(row) for row in await pool.fetch(sql, *arguments)]


def plain(row: asyncpg.Record) -> dict[str, Any]:
    """A row without its run, which every question names already."""
    return {name: _plain(value) for name, value in row.items() if name != "run"}


def _plain(value: object) -> object:
    """Decimals stay exact as strings; times are ISO 8601."""
    if isinstance(value, Decimal):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else value
