-- The crawl jobs of servers, one row each in the order of acceptance.
CREATE TABLE job (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'completed', 'failed')),
  place text NOT NULL,
  -- JSON as text, since jsonb has no NUL.
  shown text NOT NULL,
  -- May contain credentials; null once the job has ended.
  spec text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at timestamptz,
  completed_at timestamptz,
  progress integer NOT NULL DEFAULT 0,
  total integer NOT NULL DEFAULT 0,
  successful integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  skipped integer NOT NULL DEFAULT 0,
  error text,
  warnings text,
  has_begun boolean NOT NULL DEFAULT false,
  crashes integer NOT NULL DEFAULT 0,
  not_before timestamptz NOT NULL DEFAULT '-infinity',
  is_cancelled boolean NOT NULL DEFAULT false,
  -- One claim's random name, so that a claim whose answer was lost finds its job again.
  claim uuid,
  -- Rises with each claim; what names an older one changes nothing.
  fence bigint NOT NULL DEFAULT 0,
  lease interval,
  lease_until timestamptz,
  last_event bigint NOT NULL DEFAULT 0,
  -- Whether the job has ended and there may be events that only their age keeps.
  has_surplus boolean NOT NULL DEFAULT false
-- Leases are renewed every second, and no index knows of it.
) WITH (fillfactor = 50);
CREATE INDEX job_open ON job (number) WHERE state IN ('queued', 'running');
-- The processes that run jobs, and when each last asked for one.
CREATE TABLE job_runner (id uuid PRIMARY KEY, seen_at timestamptz NOT NULL) WITH (fillfactor = 50);
-- The newest events of each job, numbered by whoever holds its lease.
CREATE TABLE job_event (
  job bigint NOT NULL REFERENCES job ON DELETE CASCADE,
  number bigint NOT NULL,
  kind text NOT NULL,
  body text NOT NULL,
  told_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (job, number)
);
