-- Politeness over all crawls: when each host was asked last, who asks it now, and what its answers said. No index is on
-- a column that a turn changes, so turns stay cheap.
CREATE TABLE host_pace (
  host text PRIMARY KEY,
  last_start timestamptz,
  -- The turn under way; one whose process has died blocks the host until held_until.
  holder uuid,
  held_until timestamptz,
  -- Who is next, so that nobody is overtaken for ever; one that does not come loses its place.
  waiter uuid,
  waiter_until timestamptz,
  paused_until timestamptz,
  paused_at timestamptz,
  pauses integer NOT NULL DEFAULT 0,
  closed_until timestamptz,
  adaptive_delay_ms double precision NOT NULL DEFAULT 0,
  -- The refusal that was counted last, so that none counts twice.
  refusal uuid,
  -- When something was learned that the other processes have to know.
  learned_at timestamptz
) WITH (fillfactor = 70);
CREATE INDEX host_pace_learned ON host_pace (learned_at) WHERE learned_at IS NOT NULL;

-- Takes a host for a turn, or returns how long to wait before the next try, in ms. A turn that has it already keeps it.
CREATE FUNCTION take_host(
  wanted_host text, turn uuid, delay_ms double precision, patience_ms double precision,
  hold_ms double precision, poll_ms double precision
) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
  slot host_pace;
  present timestamptz;
  ready_at timestamptz;
  wait_ms double precision;
BEGIN
  LOOP
    SELECT * INTO slot FROM host_pace WHERE host = wanted_host FOR UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO host_pace (host) VALUES (wanted_host) ON CONFLICT DO NOTHING;
  END LOOP;
  -- The row may have been waited for.
  present := clock_timestamp();
  ready_at := greatest(slot.last_start + delay_ms * interval '1 millisecond', slot.paused_until, present);
  wait_ms := extract(epoch FROM ready_at - present) * 1000;
  IF slot.holder = turn OR (
    wait_ms = 0
    AND (slot.holder IS NULL OR slot.held_until <= present)
    AND (slot.waiter IS NULL OR slot.waiter = turn OR slot.waiter_until <= present)
  ) THEN
    UPDATE host_pace SET last_start = present, holder = turn,
      held_until = present + hold_ms * interval '1 millisecond', waiter = NULL
    WHERE host = wanted_host;
    RETURN 0;
  END IF;
  IF wait_ms <= patience_ms
    AND (slot.waiter IS NULL OR slot.waiter = turn OR slot.waiter_until <= present)
    AND (slot.waiter IS DISTINCT FROM turn OR slot.waiter_until < ready_at + interval '1 second')
  THEN
    UPDATE host_pace SET waiter = turn, waiter_until = ready_at + interval '2 seconds'
    WHERE host = wanted_host;
  END IF;
  RETURN greatest(wait_ms, poll_ms);
END $$;

-- The robots.txt of sites, by a hash of the site and of how it is asked.
CREATE TABLE robots (
  key bytea PRIMARY KEY,
  -- Null until the site has answered for the first time.
  kind text CHECK (kind IN ('file', 'absent', 'unreachable')),
  file bytea,
  failure text,
  expires_at timestamptz,
  -- Who fetches it now, while all others wait; a process that has died does so until fetching_until.
  fetcher uuid,
  fetching_until timestamptz
);
CREATE INDEX robots_expiry ON robots (expires_at);
