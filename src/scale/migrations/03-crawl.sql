-- The frontier of crawls that several processes share (src/crawler/frontier/postgres.ts).
--
-- Locks are taken in one order: worker, crawl, tally, page (by key), turn (by host). Whoever holds a host's turn may
-- change that host's rows of crawl_queue, crawl_wait and crawl_claim. A claim of one's own may be ended without it.
--
-- A page moves by inserts and deletes of narrow rows (queue, claim, outcome); the wide row of the page itself never
-- changes on that way, and no index holds a column that changes with each page.
--
-- A plan is kept as long as its table has not been analysed, and a crawl may have a million pages by then. So all
-- functions are written and set such that rows are looked up by index, one after the other, whatever statistics say.

CREATE TABLE crawl (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Where the pages go; null once it was begun afresh: the rows of this crawl are to be deleted.
  place text UNIQUE,
  plan text NOT NULL,
  job_id text NOT NULL,
  started_at timestamptz NOT NULL,
  mode text NOT NULL,
  max_pages int NOT NULL,
  run int NOT NULL,
  -- What runs before this one stored is asked for without a condition.
  asks_anew int NOT NULL,
  -- Counts the times that it was taken up with another plan, for another job or anew, when nobody worked on it: a worker
  -- of an earlier time may not go on.
  session int NOT NULL DEFAULT 1,
  -- The number of times that this crawl finished; what was stored before is "told".
  epoch int NOT NULL DEFAULT 0,
  is_seeded boolean NOT NULL DEFAULT false,
  is_finished boolean NOT NULL DEFAULT false,
  -- Why it was stopped for all processes, as JSON.
  stopped text,
  -- Pages that workers may fetch, together: never more than max_pages.
  reserved int NOT NULL DEFAULT 0,
  origins int NOT NULL DEFAULT 0,
  -- The last call of crawl_queue_unmet and its answer.
  unmet_call bigint,
  unmet bigint[],
  leader bigint,
  leader_fence bigint NOT NULL DEFAULT 0,
  leader_until timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500);

-- A process that works on a crawl. It is dead when it has not been seen for a while; its number is never used again.
CREATE TABLE crawl_worker (
  id bigint PRIMARY KEY,
  crawl bigint NOT NULL,
  seen_at timestamptz NOT NULL,
  reserved int NOT NULL DEFAULT 0,
  last_call bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 30, autovacuum_vacuum_threshold = 500);
CREATE INDEX crawl_worker_crawl ON crawl_worker (crawl);

-- What each worker counted; one shared row would make them wait for each other. Worker 0 holds corrections.
-- `open` counts pages that wait or are under way, `recorded` numbers the worker's outcomes in the order of their commits, `told` is where the leader stands.
CREATE TABLE crawl_tally (
  crawl bigint NOT NULL,
  worker bigint NOT NULL,
  successful int NOT NULL DEFAULT 0,
  failed int NOT NULL DEFAULT 0,
  skipped int NOT NULL DEFAULT 0,
  fetched int NOT NULL DEFAULT 0,
  open int NOT NULL DEFAULT 0,
  recorded bigint NOT NULL DEFAULT 0,
  told bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (crawl, worker)
) WITH (fillfactor = 30, autovacuum_vacuum_threshold = 500);

CREATE TABLE crawl_host (
  crawl bigint NOT NULL,
  name text NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  PRIMARY KEY (crawl, name)
);

-- A host's place in the queue. `head_*` is where its first queued page is, or a little before; null without any.
-- Held for one page, its time is infinity.
CREATE TABLE crawl_turn (
  host bigint PRIMARY KEY,
  crawl bigint NOT NULL,
  head_depth smallint,
  head_page bigint NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT '-infinity',
  holder bigint,
  holder_fence bigint
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
CREATE INDEX crawl_turn_ready ON crawl_turn (crawl, head_depth, next_at) WHERE head_depth IS NOT NULL;

CREATE SEQUENCE crawl_page_id CACHE 1;
-- kind: 0 a page, 4 another URL of the page in `parent`, 5 left over at max_pages, 6 too deep for the limit.
-- A row of an earlier run is what that run stored; the present run does not know it until it finds it again.
CREATE TABLE crawl_page (
  crawl bigint NOT NULL,
  id bigint NOT NULL,
  key uuid NOT NULL,
  host bigint NOT NULL,
  parent bigint,
  owner bigint,
  run int NOT NULL,
  spent_ms int NOT NULL DEFAULT 0,
  depth smallint NOT NULL,
  source smallint NOT NULL,
  kind smallint NOT NULL DEFAULT 0,
  tries smallint NOT NULL DEFAULT 0,
  url text NOT NULL,
  last_modified text,
  PRIMARY KEY (crawl, id),
  UNIQUE (crawl, key)
);
CREATE INDEX crawl_page_left ON crawl_page (crawl, run, depth) WHERE kind >= 5;

CREATE TABLE crawl_queue (
  crawl bigint NOT NULL,
  host bigint NOT NULL,
  page bigint NOT NULL,
  depth smallint NOT NULL,
  PRIMARY KEY (crawl, host, depth, page)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Pages whose next try has a time. All of them count as fetched: they were tried, or a worker that had one was lost or
-- told to end (is_lost) and may have asked for it.
CREATE TABLE crawl_wait (
  crawl bigint NOT NULL,
  host bigint NOT NULL,
  page bigint NOT NULL,
  ready_at timestamptz NOT NULL,
  spent_ms int NOT NULL,
  depth smallint NOT NULL,
  tries smallint NOT NULL,
  is_lost boolean NOT NULL DEFAULT false,
  PRIMARY KEY (crawl, page)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX crawl_wait_ready ON crawl_wait (crawl, ready_at);

CREATE TABLE crawl_claim (
  crawl bigint NOT NULL,
  host bigint NOT NULL,
  page bigint NOT NULL,
  worker bigint NOT NULL,
  fence bigint NOT NULL,
  spent_ms int NOT NULL,
  depth smallint NOT NULL,
  tries smallint NOT NULL,
  is_lost boolean NOT NULL,
  PRIMARY KEY (crawl, host, depth, page)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- fence: of the claim that was settled; null for what nobody fetched.
CREATE TABLE crawl_outcome (
  crawl bigint NOT NULL,
  page bigint NOT NULL,
  worker bigint NOT NULL,
  n bigint NOT NULL,
  fence bigint,
  recorded_at timestamptz NOT NULL,
  run int NOT NULL,
  epoch int NOT NULL,
  word_count int,
  duration_ms int,
  status smallint NOT NULL,
  http_status smallint,
  reason text,
  error_code text,
  error_message text,
  file_path text,
  title text,
  final_url text,
  content_hash text,
  warnings text,
  change text,
  PRIMARY KEY (crawl, page)
);
CREATE INDEX crawl_outcome_order ON crawl_outcome (worker, n);

-- What is kept of each page, whatever happens to it in later runs. `told_hash` is the content at the end of the last
-- finished crawl before `epoch`; a row of an earlier epoch has told all. A row that is gone and of an earlier epoch
-- only says that there was a page once.
CREATE TABLE crawl_stored (
  crawl bigint NOT NULL,
  page bigint NOT NULL,
  run int NOT NULL,
  epoch int NOT NULL,
  missed_in int,
  word_count int,
  is_transient boolean NOT NULL,
  is_gone boolean NOT NULL DEFAULT false,
  file_path text,
  title text,
  content_hash text,
  told_hash text,
  warnings text,
  etag text,
  last_modified text,
  sitemap_modified text,
  PRIMARY KEY (crawl, page)
);

-- The links of a page within the scope, packed: for an answer "not modified" and, where `too_deep` counts them as not
-- followed, for a larger limit of depth.
CREATE TABLE crawl_link (
  crawl bigint NOT NULL,
  page bigint NOT NULL,
  run int NOT NULL,
  too_deep int NOT NULL,
  urls bytea NOT NULL,
  PRIMARY KEY (crawl, page)
);
CREATE INDEX crawl_link_too_deep ON crawl_link (crawl, run, page) WHERE too_deep > 0;

CREATE TABLE crawl_skipped_link (
  crawl bigint NOT NULL,
  worker bigint NOT NULL,
  reason text NOT NULL,
  count int NOT NULL,
  PRIMARY KEY (crawl, worker, reason)
) WITH (fillfactor = 50);
CREATE TABLE crawl_origin (crawl bigint NOT NULL, name text NOT NULL, PRIMARY KEY (crawl, name));
CREATE TABLE crawl_warning (
  crawl bigint NOT NULL,
  key uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  text text NOT NULL,
  PRIMARY KEY (crawl, key)
);
