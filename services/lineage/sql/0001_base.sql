-- Read models of lineage. Every row is keyed by the fact it shows, so applying an event twice
-- changes nothing; columns that end in _at are the only ones that hold a time.

create table checkpoints (name text primary key, last_seq bigint not null);

create table runs (
    run text primary key,
    name text not null,
    goal text not null,
    status text not null,
    phase text not null,
    pause_cause text,
    detail text not null default '',
    epoch integer not null default 0,
    attempt_try integer not null default 0,
    epochs integer not null,
    population integer not null,
    strategy text not null,
    seed bigint not null,
    metric text,
    benchmark_sha text,
    draft_no integer,
    seed_sha text,
    runtime_sha text,
    champion_agent text,
    champion_genome text,
    champion_score numeric,
    last_seq bigint not null,
    requested_at timestamptz not null,
    finished_at timestamptz
);

create table epochs (
    run text not null,
    epoch integer not null,
    attempt_try integer not null,
    status text not null,
    best numeric,
    median numeric,
    worst_top_half numeric,
    successes integer,
    failures integer,
    opened_at timestamptz not null,
    closed_at timestamptz,
    primary key (run, epoch)
);

create table leaderboard (
    run text not null,
    epoch integer not null,
    rank integer not null,
    agent text not null,
    genome text not null,
    outcome text not null,
    score numeric not null,
    tie_break numeric not null,
    primary key (run, epoch, agent)
);

create table population (
    run text not null,
    agent text not null,
    genome text not null,
    parent text,
    parent_genome text,
    clone boolean not null,
    birth_epoch integer not null,
    status text not null,
    archived_epoch integer,
    archived_rank integer,
    archived_because text,
    primary key (run, agent)
);

create table ancestry (
    run text not null,
    agent text not null,
    epoch integer not null,
    change text not null,
    genome text not null,
    previous text,
    parent text,
    primary key (run, agent, epoch, change)
);

create table genomes (
    run text not null,
    genome text not null,
    proposal text not null,
    origin text not null,
    parent text,
    branch text not null,
    git_tree text not null,
    git_commit text not null,
    files_sha text not null,
    prompt_sha text not null,
    runtime_sha text not null,
    epoch integer,
    changed jsonb not null,
    primary key (run, genome)
);

create table proposals (
    run text not null,
    proposal text not null,
    origin text not null,
    status text not null,
    reason text,
    duplicate_of text,
    detail text not null default '',
    epoch integer,
    primary key (run, proposal)
);

create table attempts (
    run text not null,
    attempt text not null,
    purpose text not null,
    agent text,
    genome text,
    epoch integer,
    state text not null,
    restarts integer not null default 0,
    outcome text,
    because text not null default '',
    evidence_sha text,
    score numeric,
    primary key (run, attempt)
);

create table model_calls (
    run text not null,
    call text not null,
    role text not null,
    caller text not null,
    purpose text not null,
    model text not null,
    epoch integer,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    cached_tokens bigint not null,
    cost numeric,
    primary key (run, call)
);

create table failed_calls (
    run text not null,
    event text not null,
    role text not null,
    caller text not null,
    purpose text not null,
    kind text not null,
    epoch integer,
    primary key (run, event)
);

create table activity (
    run text not null,
    seq bigint not null,
    event text not null,
    entity_id text not null,
    epoch integer,
    text text not null,
    happened_at timestamptz not null,
    primary key (run, seq)
);

create index activity_recent on activity (run, seq desc);
create index model_calls_by_role on model_calls (run, role, caller);
