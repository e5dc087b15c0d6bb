-- The memories of agents, as the log tells them. Everything here can be rebuilt from it.

create table checkpoints (name text primary key, last_seq bigint not null);

create table memories (
    run text not null,
    record text not null,
    agent text not null,
    kind text not null,
    summary text not null,
    body text not null,
    has_evidence boolean not null,
    visibility text not null,
    content_sha text not null,
    epoch integer,
    seq bigint not null,
    words tsvector generated always as (
        to_tsvector('pg_catalog.simple'::regconfig, summary || ' ' || body)
    ) stored,
    primary key (run, record)
);
create index memories_by_agent on memories (run, agent, seq);
create index memories_by_age on memories (run, seq) where visibility = 'population';
create index memories_words on memories using gin (words);

create table ratings (
    run text not null,
    record text not null,
    rater text not null,
    value smallint not null,
    seq bigint not null,
    primary key (run, record, rater)
);

-- A reader sees one run, and there its line and what was published; FORCE binds the owner too.
-- Without the settings a connection sees nothing.
alter table memories enable row level security;
alter table memories force row level security;
alter table ratings enable row level security;
alter table ratings force row level security;

create policy reading on memories for select using (
    run = current_setting('kadath.run', true)
    and (
        visibility = 'population'
        or agent = any (string_to_array(current_setting('kadath.line', true), ','))
    )
);
create policy reading on ratings for select using (run = current_setting('kadath.run', true));
create policy projecting on memories for all
    using (current_setting('kadath.projector', true) = 'on')
    with check (current_setting('kadath.projector', true) = 'on');
create policy projecting on ratings for all
    using (current_setting('kadath.projector', true) = 'on')
    with check (current_setting('kadath.projector', true) = 'on');
