-- What is known of the syncs of tenants.
CREATE TABLE sync_record (
  codename text PRIMARY KEY,
  record jsonb NOT NULL
);

-- Syncs that somebody has asked for. Whoever takes a request removes it next; one whose taker died in between is
-- taken again.
CREATE TABLE sync_request (
  codename text PRIMARY KEY,
  taker uuid,
  taken_at timestamptz
);
