-- Functions of a shared crawl (tables: 03-crawl.sql and later). `database migrate` runs this file if a function differs.
-- The numbers of hosts, in the order of the names; new ones are made.
CREATE OR REPLACE FUNCTION crawl_host_ids(p_crawl bigint, p_names text[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE v_new bigint[];
BEGIN
  WITH made AS (
    INSERT INTO crawl_host (crawl, name)
      SELECT p_crawl, name FROM (SELECT DISTINCT unnest(p_names) AS name) x
      WHERE NOT EXISTS (SELECT FROM crawl_host h WHERE h.crawl = p_crawl AND h.name = x.name)
      ORDER BY name
    ON CONFLICT DO NOTHING RETURNING id)
  INSERT INTO crawl_turn (host, crawl) SELECT id, p_crawl FROM made;
  RETURN (SELECT array_agg(h.id ORDER BY x.i) FROM unnest(p_names) WITH ORDINALITY x (name, i)
    LEFT JOIN crawl_host h ON h.crawl = p_crawl AND h.name = x.name);
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Whether this worker still leads under that fence; if so, nobody else begins to until the end of the transaction.
CREATE OR REPLACE FUNCTION crawl_leads(p_crawl bigint, p_worker bigint, p_fence bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM crawl WHERE id = p_crawl AND leader = p_worker AND leader_fence = p_fence FOR SHARE;
  RETURN FOUND;
END $$;

-- Records pages as skipped, in the order of the array; call it with the tally locked.
CREATE OR REPLACE FUNCTION crawl_skip(p_crawl bigint, p_worker bigint, p_pages bigint[], p_reasons text[], p_owners bigint[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO crawl_outcome (crawl, page, worker, n, recorded_at, run, epoch, status, reason, final_url)
    SELECT p_crawl, x.page, p_worker, t.recorded + x.i, clock_timestamp(), c.run, c.epoch, 2, x.reason,
        (SELECT url FROM crawl_page o WHERE o.crawl = p_crawl AND o.id = x.owner)
      FROM crawl c, crawl_tally t, unnest(p_pages, p_reasons, p_owners) WITH ORDINALITY x (page, reason, owner, i)
      WHERE c.id = p_crawl AND t.crawl = p_crawl AND t.worker = p_worker
    ON CONFLICT (crawl, page) DO UPDATE SET (worker, n, fence, recorded_at, run, epoch, word_count, duration_ms,
        status, http_status, reason, error_code, error_message, file_path, title, final_url, content_hash, warnings,
        change, fetcher, error_block)
      = (excluded.worker, excluded.n, NULL, excluded.recorded_at, excluded.run, excluded.epoch, NULL, NULL,
        excluded.status, NULL, excluded.reason, NULL, NULL, NULL, NULL, excluded.final_url, NULL, NULL, NULL, NULL, NULL);
  UPDATE crawl_page p SET owner = x.owner FROM unnest(p_pages, p_owners) x (page, owner)
    WHERE p.crawl = p_crawl AND p.id = x.page AND x.owner IS NOT NULL;
  UPDATE crawl_tally SET skipped = skipped + cardinality(p_pages), recorded = recorded + cardinality(p_pages)
    WHERE crawl = p_crawl AND worker = p_worker;
END $$;

-- Queues pages; call it with the turns of their hosts locked.
CREATE OR REPLACE FUNCTION crawl_enqueue(p_crawl bigint, p_pages bigint[], p_hosts bigint[], p_depths smallint[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  INSERT INTO crawl_queue (crawl, host, depth, page)
    SELECT p_crawl, x.host, x.depth, x.page FROM unnest(p_pages, p_hosts, p_depths) x (page, host, depth)
    ON CONFLICT DO NOTHING;
  FOR r IN SELECT DISTINCT ON (x.host) x.host, x.depth, x.page FROM unnest(p_pages, p_hosts, p_depths) x (page, host, depth)
    ORDER BY x.host, x.depth, x.page
  LOOP
    UPDATE crawl_turn SET head_depth = r.depth, head_page = r.page
      WHERE host = r.host AND (head_depth IS NULL OR (r.depth, r.page) < (head_depth, head_page));
  END LOOP;
END $$;

-- Locks the turns of hosts, in their order.
CREATE OR REPLACE FUNCTION crawl_lock_turns(p_hosts bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM crawl_turn WHERE host = ANY (p_hosts) ORDER BY host FOR NO KEY UPDATE;
END $$;

-- Finds out where the first queued pages of hosts are; call it with their turns locked.
CREATE OR REPLACE FUNCTION crawl_find_heads(p_crawl bigint, p_hosts bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_host bigint; v_depth smallint; v_page bigint;
BEGIN
  FOREACH v_host IN ARRAY p_hosts LOOP
    SELECT depth, page INTO v_depth, v_page FROM crawl_queue
      WHERE crawl = p_crawl AND host = v_host ORDER BY depth, page LIMIT 1;
    UPDATE crawl_turn SET head_depth = v_depth, head_page = coalesce(v_page, 0)
      WHERE host = v_host AND (head_depth, head_page) IS DISTINCT FROM (v_depth, coalesce(v_page, 0));
  END LOOP;
END $$;

-- The state of a page of this run, as `STATE` (schema.ts) numbers them.
CREATE OR REPLACE FUNCTION crawl_state(p crawl_page) RETURNS smallint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p.kind > 0 THEN p.kind
    WHEN EXISTS (SELECT FROM crawl_queue WHERE crawl = p.crawl AND host = p.host AND depth = p.depth AND page = p.id) THEN 0
    WHEN EXISTS (SELECT FROM crawl_claim WHERE crawl = p.crawl AND host = p.host AND depth = p.depth AND page = p.id) THEN 1
    WHEN EXISTS (SELECT FROM crawl_wait WHERE crawl = p.crawl AND page = p.id) THEN 2
    ELSE 3 END
$$;

-- Whether it changes a page of this run to be found again at that depth: another URL of a page becomes a duplicate, and a
-- page that is queued or too deep takes the smaller depth.
CREATE OR REPLACE FUNCTION crawl_moves(p crawl_page, p_depth smallint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT p.kind = 4 OR (p.depth > p_depth AND crawl_state(p) IN (0, 6))
$$;

-- Inserts the pages of the arrays that are new to this run, in their order. Returns their ids, which are null for the others
-- and where another transaction was quicker.
CREATE OR REPLACE FUNCTION crawl_put_pages(p_crawl bigint, p_run int, p_keys uuid[], p_urls text[], p_hosts bigint[],
  p_depths smallint[], p_parents bigint[], p_sources smallint[], p_modified text[], p_new boolean[])
RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE v_ids bigint[];
BEGIN
    WITH fresh AS MATERIALIZED (
      SELECT x.*, nextval('crawl_page_id') AS id FROM unnest(p_keys, p_urls, p_hosts, p_depths, p_parents, p_sources,
        p_modified, p_new) x (key, url, host, depth, parent, source, modified, is_new) WHERE x.is_new),
    -- Sorted, so that those who insert the same keys at once do not wait for each other in a circle.
    put AS (
      INSERT INTO crawl_page AS p (crawl, id, key, url, host, depth, parent, source, run, last_modified)
        SELECT p_crawl, id, key, url, host, depth, parent, source, p_run, modified FROM fresh ORDER BY key
      ON CONFLICT (crawl, key) DO UPDATE SET depth = excluded.depth, parent = excluded.parent, kind = 0,
          source = excluded.source, run = p_run, last_modified = excluded.last_modified, tries = 0, spent_ms = 0,
          owner = NULL
        WHERE p.run < p_run
      RETURNING p.id, p.key)
    SELECT array_agg(put.id ORDER BY x.i) INTO v_ids
      FROM unnest(p_keys) WITH ORDINALITY x (key, i) LEFT JOIN put ON put.key = x.key;
  RETURN v_ids;
END $$ SET enable_hashjoin = on SET enable_nestloop = off SET enable_mergejoin = off;

-- Takes in URLs in their order, each found at a place (depth, page, source; none is taken in where the depth is null).
-- Unknown ones are queued, or recorded as skipped where there is a reason; known ones get the smaller depth, and other
-- URLs of a page become duplicates. Locks the turns of p_also with theirs. Call it with the tally locked.
-- Returns how many are new.
CREATE OR REPLACE FUNCTION crawl_add_pages(p_crawl bigint, p_worker bigint, p_of int[], p_keys uuid[], p_urls text[],
  p_hosts bigint[], p_depths smallint[], p_parents bigint[], p_sources smallint[], p_modified text[], p_reasons text[],
  p_also bigint[])
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_run int := (SELECT run FROM crawl WHERE id = p_crawl);
  v_keys uuid[]; v_urls text[]; v_hosts bigint[]; v_depths smallint[]; v_parents bigint[]; v_sources smallint[];
  v_modified text[]; v_reasons text[]; v_new boolean[]; v_ids bigint[]; v_queued int; r record;
BEGIN
  SELECT array_agg(key), array_agg(url), array_agg(host), array_agg(depth), array_agg(parent), array_agg(source),
      array_agg(modified), array_agg(reason), array_agg(is_new)
    INTO v_keys, v_urls, v_hosts, v_depths, v_parents, v_sources, v_modified, v_reasons, v_new
    FROM (SELECT * FROM (
      SELECT DISTINCT ON (u.key) u.i, u.key, u.url, u.host, u.modified, u.reason, p_depths[u.of] AS depth,
          p_parents[u.of] AS parent, p_sources[u.of] AS source, p.id IS NULL OR p.run < v_run AS is_new
        FROM unnest(p_of, p_keys, p_urls, p_hosts, p_modified, p_reasons)
          WITH ORDINALITY u (of, key, url, host, modified, reason, i)
        LEFT JOIN crawl_page p ON p.crawl = p_crawl AND p.key = u.key
        WHERE p_depths[u.of] IS NOT NULL
          AND (p.id IS NULL OR p.run < v_run OR (u.reason IS NULL AND crawl_moves(p, p_depths[u.of])))
        ORDER BY u.key, p_depths[u.of], u.i) d
      ORDER BY i) x;
  IF true = ANY (v_new) THEN
    v_ids := crawl_put_pages(p_crawl, v_run, v_keys, v_urls, v_hosts, v_depths, v_parents, v_sources, v_modified, v_new);
  END IF;
  PERFORM crawl_lock_turns(v_hosts || p_also);
  SELECT count(*), crawl_enqueue(p_crawl, array_agg(x.id), array_agg(x.host), array_agg(x.depth)) INTO v_queued
    FROM unnest(v_ids, v_hosts, v_depths, v_reasons) x (id, host, depth, reason)
    WHERE x.id IS NOT NULL AND x.reason IS NULL;
  IF p_reasons IS NOT NULL THEN
    PERFORM crawl_skip(p_crawl, p_worker, array_agg(x.id), array_agg(x.reason), array_agg(NULL::bigint))
      FROM unnest(v_ids, v_reasons) x (id, reason) WHERE x.id IS NOT NULL AND x.reason IS NOT NULL HAVING count(*) > 0;
  END IF;
  -- Pages that this run knew, or another transaction was quicker to insert, as they are under the locks. Without
  -- `coalesce` the planner makes an inner join of it.
  FOR r IN
    SELECT p.id, p.host, p.depth AS before, p.parent AS original, x.depth, x.parent, x.source, crawl_state(p) AS state
      FROM unnest(v_ids, v_keys, v_depths, v_parents, v_sources) x (id, key, depth, parent, source)
      LEFT JOIN crawl_page p ON p.crawl = p_crawl AND p.key = x.key
      WHERE x.id IS NULL AND coalesce(crawl_moves(p, x.depth), false)
  LOOP
    UPDATE crawl_page SET kind = 0, depth = r.depth, parent = r.parent,
        source = CASE WHEN r.state = 4 THEN r.source ELSE source END
      WHERE crawl = p_crawl AND id = r.id;
    IF r.state = 4 THEN
      PERFORM crawl_skip(p_crawl, p_worker, ARRAY[r.id], ARRAY['duplicate'], ARRAY[r.original]);
    ELSE
      DELETE FROM crawl_queue WHERE crawl = p_crawl AND host = r.host AND depth = r.before AND page = r.id;
      v_queued := v_queued + (r.state = 6)::int;
      PERFORM crawl_enqueue(p_crawl, ARRAY[r.id], ARRAY[r.host], ARRAY[r.depth]);
    END IF;
  END LOOP;
  IF v_queued > 0 THEN
    UPDATE crawl_tally SET open = open + v_queued WHERE crawl = p_crawl AND worker = p_worker;
  END IF;
  RETURN coalesce(cardinality(array_remove(v_ids, NULL)), 0);
END $$;

-- The leader's seeds and sitemap URLs, at depth 0. Returns null to a process that does not lead.
CREATE OR REPLACE FUNCTION crawl_add(p_crawl bigint, p_worker bigint, p_fence bigint, p_of int[], p_keys uuid[], p_urls text[],
  p_hosts bigint[], p_modified text[], p_reasons text[], p_origins text[])
RETURNS int LANGUAGE plpgsql AS $$
DECLARE v_added int; r record;
BEGIN
  IF NOT crawl_leads(p_crawl, p_worker, p_fence) THEN RETURN NULL; END IF;
  PERFORM crawl_add_origins(p_crawl, p_origins);
  PERFORM FROM crawl_tally WHERE crawl = p_crawl AND worker = p_worker FOR NO KEY UPDATE;
  -- Place 1 is that of seeds, place 2 that of sitemap URLs.
  v_added := crawl_add_pages(p_crawl, p_worker, p_of, p_keys, p_urls, p_hosts, '{0,0}', '{NULL,NULL}', '{0,1}', p_modified,
    p_reasons, '{}');
  FOR r IN
    SELECT p.id, x.modified FROM unnest(p_keys, p_modified) WITH ORDINALITY x (key, modified, i)
      LEFT JOIN crawl_page p ON p.crawl = p_crawl AND p.key = x.key AND p.kind <> 4
      WHERE x.modified IS NOT NULL AND x.modified IS DISTINCT FROM p.last_modified ORDER BY x.i
  LOOP
    UPDATE crawl_page SET last_modified = r.modified WHERE crawl = p_crawl AND id = r.id;
  END LOOP;
  RETURN v_added;
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

CREATE OR REPLACE FUNCTION crawl_add_origins(p_crawl bigint, p_names text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_count int;
BEGIN
  INSERT INTO crawl_origin SELECT DISTINCT p_crawl, unnest(p_names) ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  IF v_count > 0 THEN UPDATE crawl SET origins = origins + v_count WHERE id = p_crawl; END IF;
END $$;

-- Returns the data that a worker needs about the pages that it has claimed, in the order of the array.
CREATE OR REPLACE FUNCTION crawl_claimed(p_crawl bigint, p_pages bigint[]) RETURNS json LANGUAGE plpgsql AS $$
DECLARE v_run int := (SELECT run FROM crawl WHERE id = p_crawl);
BEGIN
  -- The first run knows nothing of earlier ones.
  RETURN (SELECT json_agg(json_build_array(p.id, p.url, p.depth, o.url, p.source, p.last_modified, k.tries, k.spent_ms,
      k.is_lost, s.is_gone AND s.epoch < c.epoch, CASE WHEN NOT (s.is_gone AND s.epoch < c.epoch) THEN json_build_object(
        'isTrusted', s.run >= c.asks_anew, 'etag', s.etag, 'lastModified', s.last_modified,
        'sitemapModified', s.sitemap_modified, 'links', encode(l.urls, 'base64'),
        'toldHash', CASE WHEN s.epoch < c.epoch THEN s.content_hash ELSE s.told_hash END,
        'wasMissed', coalesce(s.missed_in < c.run, false), 'isTransient404', s.is_transient, 'filePath', s.file_path,
        'title', s.title, 'wordCount', s.word_count, 'contentHash', s.content_hash, 'warnings', s.warnings,
        'fetcher', u.fetcher) END)
      ORDER BY x.i)
    FROM unnest(p_pages) WITH ORDINALITY x (id, i)
    LEFT JOIN crawl c ON v_run > 1 AND c.id = p_crawl
    LEFT JOIN crawl_page p ON p.crawl = p_crawl AND p.id = x.id
    LEFT JOIN crawl_claim k ON k.crawl = p_crawl AND k.host = p.host AND k.depth = p.depth AND k.page = p.id
    LEFT JOIN crawl_page o ON o.crawl = p_crawl AND o.id = p.parent
    LEFT JOIN crawl_stored s ON v_run > 1 AND s.crawl = p_crawl AND s.page = p.id
    LEFT JOIN crawl_outcome u ON v_run > 1 AND u.crawl = p_crawl AND u.page = p.id
    LEFT JOIN crawl_link l ON v_run > 1 AND l.crawl = p_crawl AND l.page = p.id);
END $$;

-- Hands out pages. p_call numbers the worker's calls: one that is repeated, since its answer was lost, answers the same.
-- p_reserve is how many pages without a try the worker would like to have the right to since it began, p_used how many
-- it has had. Of an exclusive host it hands out one page until that page's claim frees the host.
-- The answer is null for a worker that is dead.
CREATE OR REPLACE FUNCTION crawl_take_pages(p_crawl bigint, p_worker bigint, p_call bigint, p_count int, p_reserve int, p_used int,
  p_exclusive boolean, p_origins int)
RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  w crawl_worker; v_now timestamptz; v_want int; v_left int; v_free int; v_depth smallint := -1; v_wait timestamptz; v_at timestamptz;
  v_over boolean := false; v_pages bigint[] := '{}'; v_hosts bigint[] := '{}'; v_places tid[]; v_host bigint;
  v_has_tried boolean := false; v_origins int; r record; v_retry crawl_wait;
BEGIN
  SELECT * INTO w FROM crawl_worker WHERE id = p_worker FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF w.last_call >= p_call THEN
    v_pages := ARRAY(SELECT page FROM crawl_claim WHERE crawl = p_crawl AND worker = p_worker AND fence = p_call
      ORDER BY depth, page);
  ELSE
    IF p_reserve < w.reserved OR p_used + p_count > w.reserved THEN
      SELECT greatest(max_pages - reserved, 0) INTO v_left FROM crawl WHERE id = p_crawl FOR NO KEY UPDATE;
      -- More than it needs now only as long as there is plenty for others.
      v_left := CASE WHEN p_reserve < w.reserved THEN p_reserve - w.reserved
        ELSE least(v_left, greatest(p_used + p_count - w.reserved, least(p_reserve - w.reserved, v_left / 16), 0)) END;
      IF v_left <> 0 THEN
        UPDATE crawl SET reserved = reserved + v_left WHERE id = p_crawl;
        w.reserved := w.reserved + v_left;
      END IF;
    END IF;
    UPDATE crawl_worker SET last_call = p_call, reserved = w.reserved WHERE id = p_worker;
    v_now := clock_timestamp();
    IF EXISTS (SELECT FROM crawl_wait WHERE crawl = p_crawl AND ready_at <= v_now) THEN
      FOR r IN SELECT x.page, x.host FROM crawl_wait x JOIN crawl_turn t ON t.host = x.host
        WHERE x.crawl = p_crawl AND x.ready_at <= v_now AND t.next_at <= v_now
        ORDER BY x.ready_at LIMIT p_count * 4 FOR NO KEY UPDATE OF t SKIP LOCKED
      LOOP
        v_has_tried := true;
        EXIT WHEN cardinality(v_pages) >= p_count;
        CONTINUE WHEN p_exclusive AND r.host = ANY (v_hosts);
        DELETE FROM crawl_wait WHERE crawl = p_crawl AND page = r.page RETURNING * INTO v_retry;
        CONTINUE WHEN NOT FOUND;
        INSERT INTO crawl_claim VALUES
          (p_crawl, v_retry.host, v_retry.page, p_worker, p_call, v_retry.spent_ms, v_retry.depth, v_retry.tries,
            v_retry.is_lost);
        UPDATE crawl_turn SET next_at = CASE WHEN p_exclusive THEN 'infinity' ELSE v_now END,
            holder = CASE WHEN p_exclusive THEN p_worker END, holder_fence = p_call
          WHERE host = v_retry.host;
        v_hosts := v_hosts || v_retry.host;
        v_pages := v_pages || v_retry.page;
      END LOOP;
    END IF;
    -- Pages that waited for another try do not count towards max_pages again.
    v_free := w.reserved - p_used + cardinality(v_pages);
    LOOP
      v_want := least(p_count, v_free) - cardinality(v_pages);
      EXIT WHEN v_want <= 0;
      SELECT min(head_depth) INTO v_depth FROM crawl_turn WHERE crawl = p_crawl AND head_depth > v_depth;
      IF v_depth IS NOT NULL THEN
        SELECT array_agg(x.host) INTO v_hosts FROM (
          SELECT t.host FROM crawl_turn t WHERE t.crawl = p_crawl AND t.head_depth = v_depth AND t.next_at <= v_now
            AND NOT EXISTS (SELECT FROM crawl_claim k
              WHERE k.crawl = p_crawl AND k.host = t.host AND k.depth < t.head_depth)
          ORDER BY t.next_at LIMIT v_want FOR NO KEY UPDATE OF t SKIP LOCKED) x;
      ELSE
        EXIT WHEN v_has_tried;
        -- Others may be at the only hosts that are left; this waits for the first.
        SELECT t.host INTO v_host FROM crawl_turn t WHERE t.crawl = p_crawl AND t.head_depth IS NOT NULL
          AND t.next_at <= v_now AND NOT EXISTS (SELECT FROM crawl_claim k
            WHERE k.crawl = p_crawl AND k.host = t.host AND k.depth < t.head_depth) LIMIT 1;
        EXIT WHEN NOT FOUND;
        PERFORM FROM crawl_turn WHERE host = v_host FOR NO KEY UPDATE;
        v_now := clock_timestamp();
        v_hosts := ARRAY[v_host];
      END IF;
      CONTINUE WHEN v_hosts IS NULL;
      v_has_tried := true;
      -- A statement of its own: what it sees of the locked hosts cannot change any more.
      v_places := '{}';
      FOR r IN
        SELECT d.host, x.pages, x.places, n.depth AS next_depth, coalesce(n.page, 0) AS next_page FROM (
          SELECT t.host, t.head_depth, t.head_page, row_number() OVER (ORDER BY t.next_at) AS i, count(*) OVER () AS hosts
            FROM crawl_turn t WHERE t.host = ANY (v_hosts) AND t.head_depth IS NOT NULL AND t.next_at <= v_now
              AND NOT EXISTS (SELECT FROM crawl_claim k
                WHERE k.crawl = p_crawl AND k.host = t.host AND k.depth < t.head_depth)) d
        CROSS JOIN LATERAL (SELECT array_agg(q.page) AS pages, array_agg(q.place) AS places, max(q.page) AS last FROM (
          SELECT u.page, u.ctid AS place FROM crawl_queue u
            WHERE u.crawl = p_crawl AND u.host = d.host AND u.depth = d.head_depth AND u.page >= d.head_page
            ORDER BY u.page
            LIMIT CASE WHEN p_exclusive THEN 1 ELSE v_want / d.hosts + (d.i <= v_want % d.hosts)::int END) q) x
        LEFT JOIN LATERAL (SELECT u.depth, u.page FROM crawl_queue u WHERE u.crawl = p_crawl AND u.host = d.host
          AND (u.depth, u.page) > (d.head_depth, coalesce(x.last, d.head_page - 1))
          ORDER BY u.depth, u.page LIMIT 1) n ON true
        ORDER BY d.i
      LOOP
        UPDATE crawl_turn SET head_depth = r.next_depth, head_page = r.next_page,
            next_at = CASE WHEN r.pages IS NULL THEN next_at WHEN p_exclusive THEN 'infinity' ELSE v_now END,
            holder = CASE WHEN p_exclusive AND r.pages IS NOT NULL THEN p_worker END, holder_fence = p_call
          WHERE host = r.host;
        v_pages := v_pages || r.pages;
        v_places := v_places || r.places;
      END LOOP;
      WITH gone AS (DELETE FROM crawl_queue WHERE ctid = ANY (v_places) RETURNING host, depth, page)
      INSERT INTO crawl_claim SELECT p_crawl, host, page, p_worker, p_call, 0, depth, 0, false FROM gone;
      EXIT WHEN v_depth IS NULL;
    END LOOP;
  END IF;
  IF cardinality(v_pages) = 0 THEN
    v_over := NOT EXISTS (SELECT FROM crawl_claim WHERE crawl = p_crawl)
      AND NOT EXISTS (SELECT FROM crawl_wait WHERE crawl = p_crawl)
      AND (NOT EXISTS (SELECT FROM crawl_turn WHERE crawl = p_crawl AND head_depth IS NOT NULL)
        OR (SELECT sum(t.fetched) >= c.max_pages FROM crawl c JOIN crawl_tally t ON t.crawl = c.id WHERE c.id = p_crawl
          GROUP BY c.max_pages));
  END IF;
  IF cardinality(v_pages) < p_count AND NOT v_over THEN
    SELECT x.ready_at INTO v_wait FROM crawl_wait x WHERE x.crawl = p_crawl AND x.ready_at > v_now ORDER BY x.ready_at LIMIT 1;
    v_depth := -1;
    WHILE w.reserved > p_used LOOP
      SELECT min(head_depth) INTO v_depth FROM crawl_turn WHERE crawl = p_crawl AND head_depth > v_depth;
      EXIT WHEN v_depth IS NULL;
      SELECT next_at INTO v_at FROM crawl_turn WHERE crawl = p_crawl AND head_depth = v_depth AND next_at > v_now
        ORDER BY next_at LIMIT 1;
      v_wait := least(v_wait, v_at);
    END LOOP;
  END IF;
  SELECT origins INTO v_origins FROM crawl WHERE id = p_crawl;
  RETURN json_build_object('pages', crawl_claimed(p_crawl, v_pages), 'reserved', w.reserved, 'isOver', v_over,
    'waitMs', CASE WHEN v_wait < 'infinity' THEN extract(epoch FROM v_wait - v_now) * 1000 END,
    'origins', CASE WHEN v_origins <> p_origins THEN
      (SELECT json_agg(name) FROM crawl_origin WHERE crawl = p_crawl) END);
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

CREATE OR REPLACE FUNCTION crawl_counts(p_crawl bigint) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_object('successful', coalesce(sum(t.successful), 0), 'failed', coalesce(sum(t.failed), 0),
    'skipped', coalesce(sum(t.skipped), 0), 'fetched', coalesce(sum(t.fetched), 0),
    'queued', coalesce(sum(t.open), 0) - c.underway, 'underway', c.underway, 'untried', c.untried)
  FROM (SELECT count(*) AS underway, count(*) FILTER (WHERE tries = 0 AND NOT is_lost) AS untried
      FROM crawl_claim WHERE crawl = p_crawl) c
    LEFT JOIN crawl_tally t ON t.crawl = p_crawl GROUP BY c.underway, c.untried
$$;

-- Records a worker's work since the last call: results of pages with their links, released pages, and rests of hosts, each
-- after the claim that held the host (`fence`) or as a pause. A claim that now belongs to another worker changes nothing; a
-- claim that an earlier call has settled counts as settled. Returns the ordinals of the settled pages.
CREATE OR REPLACE FUNCTION crawl_record(p_crawl bigint, p_worker bigint, p_settles jsonb, p_of int[], p_keys uuid[], p_urls text[],
  p_hosts bigint[], p_retries jsonb, p_rests jsonb, p_origins text[])
RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz; v_ok int[] := '{}'; v_depths smallint[] := '{}'; v_parents bigint[] := '{}'; v_locks bigint[];
  v_run int; v_epoch int; v_fetched int := 0; r record;
BEGIN
  PERFORM FROM crawl_worker WHERE id = p_worker FOR KEY SHARE;
  IF FOUND THEN
    IF p_origins <> '{}' THEN PERFORM crawl_add_origins(p_crawl, p_origins); END IF;
    PERFORM FROM crawl_tally WHERE crawl = p_crawl AND worker = p_worker FOR NO KEY UPDATE;
    SELECT run, epoch INTO v_run, v_epoch FROM crawl WHERE id = p_crawl;
    v_now := clock_timestamp();
    IF p_settles <> '[]' THEN
      FOR r IN SELECT * FROM jsonb_to_recordset(p_settles) s (o int, page bigint, host bigint, depth smallint, fence bigint,
        memory text, links text)
      LOOP
        DELETE FROM crawl_claim WHERE crawl = p_crawl AND host = r.host AND depth = r.depth AND page = r.page
          AND worker = p_worker AND fence = r.fence;
        v_parents := v_parents || r.page;
        v_depths := v_depths || CASE WHEN FOUND THEN r.depth + 1 END::smallint;
        CONTINUE WHEN NOT FOUND;
        v_ok := v_ok || r.o;
        IF r.memory IN ('gone', 'missed') THEN
          UPDATE crawl_stored SET is_gone = is_gone OR r.memory = 'gone',
              missed_in = CASE r.memory WHEN 'missed' THEN coalesce(missed_in, v_run) ELSE missed_in END,
              told_hash = CASE WHEN epoch = v_epoch THEN told_hash ELSE content_hash END, epoch = v_epoch
            WHERE crawl = p_crawl AND page = r.page AND NOT (is_gone AND epoch < v_epoch);
        ELSIF r.memory = 'stored' AND r.links IS NULL AND v_run > 1 THEN
          DELETE FROM crawl_link WHERE crawl = p_crawl AND page = r.page;
        END IF;
      END LOOP;
      WITH a AS MATERIALIZED (
        SELECT s.*, v_run AS run, v_epoch AS epoch, t.recorded + row_number() OVER (ORDER BY s.o) AS n
          FROM jsonb_to_recordset(p_settles) s (o int, page bigint, fence bigint, fetched int, status smallint, reason text,
            code text, message text, file text, title text, words int, http smallint, final text, ms int, hash text,
            warnings text, change text, fetcher text, block text, etag text, modified text, sitemap text, transient boolean, links text, deep int,
            refused jsonb), crawl_tally t
          WHERE s.o = ANY (v_ok) AND t.crawl = p_crawl AND t.worker = p_worker),
      put AS (
        INSERT INTO crawl_outcome SELECT p_crawl, page, p_worker, n, fence, v_now, run, epoch, words, ms, status, http,
            reason, code, message, file, title, final, hash, warnings, change, fetcher, block FROM a
          ON CONFLICT (crawl, page) DO UPDATE SET (worker, n, fence, recorded_at, run, epoch, word_count, duration_ms,
              status, http_status, reason, error_code, error_message, file_path, title, final_url, content_hash,
              warnings, change, fetcher, error_block)
            = (excluded.worker, excluded.n, excluded.fence, excluded.recorded_at, excluded.run, excluded.epoch,
              excluded.word_count, excluded.duration_ms, excluded.status, excluded.http_status, excluded.reason,
              excluded.error_code, excluded.error_message, excluded.file_path, excluded.title, excluded.final_url,
              excluded.content_hash, excluded.warnings, excluded.change, excluded.fetcher, excluded.error_block)),
      kept AS (
        INSERT INTO crawl_stored AS x SELECT p_crawl, page, run, epoch, NULL, words, transient, false, file, title, hash,
            NULL, warnings, etag, modified, sitemap FROM a WHERE status = 0
          ON CONFLICT (crawl, page) DO UPDATE SET (run, epoch, missed_in, word_count, is_transient, is_gone, file_path,
              title, content_hash, told_hash, warnings, etag, last_modified, sitemap_modified)
            = (excluded.run, excluded.epoch, NULL, excluded.word_count, excluded.is_transient, false,
              excluded.file_path, excluded.title, excluded.content_hash,
              CASE WHEN x.epoch = excluded.epoch THEN x.told_hash WHEN NOT x.is_gone THEN x.content_hash END,
              excluded.warnings, excluded.etag, excluded.last_modified, excluded.sitemap_modified)),
      linked AS (
        INSERT INTO crawl_link SELECT p_crawl, page, run, deep, decode(links, 'base64') FROM a WHERE links IS NOT NULL
          ON CONFLICT (crawl, page) DO UPDATE
            SET run = excluded.run, too_deep = excluded.too_deep, urls = excluded.urls),
      refused AS (
        INSERT INTO crawl_skipped_link AS x
          SELECT p_crawl, p_worker, e.key, sum(e.value::int) FROM a, jsonb_each_text(a.refused) e
            GROUP BY e.key ORDER BY e.key
          ON CONFLICT (crawl, worker, reason) DO UPDATE SET count = x.count + excluded.count)
      UPDATE crawl_tally t SET successful = t.successful + x.successful, failed = t.failed + x.failed,
          skipped = t.skipped + x.skipped, fetched = t.fetched + x.fetched, open = t.open - x.recorded,
          recorded = t.recorded + x.recorded
        FROM (SELECT count(*) FILTER (WHERE status = 0) AS successful, count(*) FILTER (WHERE status = 1) AS failed,
            count(*) FILTER (WHERE status = 2) AS skipped, sum(a.fetched) AS fetched, count(*) AS recorded
          FROM a HAVING count(*) > 0) x
        WHERE t.crawl = p_crawl AND t.worker = p_worker;
    END IF;
    v_locks := ARRAY(SELECT (x.e ->> 'host')::bigint
      FROM (SELECT jsonb_array_elements(p_retries || p_rests) AS e) x);
    IF cardinality(p_keys) > 0 THEN
      PERFORM crawl_add_pages(p_crawl, p_worker, p_of, p_keys, p_urls, p_hosts, v_depths, v_parents,
        array_fill(2::smallint, ARRAY[cardinality(v_depths)]), NULL, NULL, v_locks);
    ELSIF v_locks <> '{}' THEN
      PERFORM crawl_lock_turns(v_locks);
    END IF;
    IF p_retries <> '[]' THEN
      FOR r IN SELECT * FROM jsonb_to_recordset(p_retries) s (page bigint, host bigint, depth smallint, fence bigint,
        tries smallint, spent int, wait float, lost boolean, waits boolean, counted int)
      LOOP
        DELETE FROM crawl_claim WHERE crawl = p_crawl AND host = r.host AND depth = r.depth AND page = r.page
          AND worker = p_worker AND fence = r.fence;
        CONTINUE WHEN NOT FOUND;
        IF r.waits THEN
          INSERT INTO crawl_wait VALUES (p_crawl, r.host, r.page, v_now + r.wait * interval '1 ms', r.spent, r.depth,
            r.tries, r.lost);
        ELSE
          PERFORM crawl_enqueue(p_crawl, ARRAY[r.page], ARRAY[r.host], ARRAY[r.depth]);
        END IF;
        v_fetched := v_fetched + r.counted;
      END LOOP;
      UPDATE crawl_tally SET fetched = fetched + v_fetched WHERE v_fetched > 0 AND crawl = p_crawl AND worker = p_worker;
    END IF;
    IF p_rests <> '[]' THEN
      -- A held host rests without end, so a pause takes effect only after its claim has freed it.
      FOR r IN SELECT * FROM jsonb_to_recordset(p_rests) s (host bigint, fence bigint, rest float) ORDER BY s.fence LOOP
        UPDATE crawl_turn SET holder = CASE WHEN r.fence IS NULL THEN holder END,
            next_at = greatest(v_now + r.rest * interval '1 ms', CASE WHEN r.fence IS NULL THEN next_at END)
          WHERE host = r.host AND (r.fence IS NULL OR (holder = p_worker AND holder_fence = r.fence));
      END LOOP;
    END IF;
  END IF;
  IF cardinality(v_ok) < jsonb_array_length(p_settles) THEN
    v_ok := v_ok || ARRAY(SELECT s.o FROM jsonb_to_recordset(p_settles) s (o int, page bigint, fence bigint)
      WHERE s.o <> ALL (v_ok) AND EXISTS (SELECT FROM crawl_outcome x WHERE x.crawl = p_crawl AND x.page = s.page
        AND x.worker = p_worker AND x.fence = s.fence));
  END IF;
  RETURN v_ok;
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Returns the pages of this run that have a claimed page's other URLs, in their order, as `NamedPage` (rules.ts); where
-- there are none, the URLs are the page's from now on. Null: the worker has the claim no longer. Locks what
-- `crawl_identify` changes in the same transaction. p_serial: no other page is judged meanwhile.
CREATE OR REPLACE FUNCTION crawl_named(p_crawl bigint, p_worker bigint, p_fence bigint, p_page bigint, p_host bigint,
  p_depth smallint, p_keys uuid[], p_urls text[], p_hosts bigint[], p_serial boolean)
RETURNS json LANGUAGE plpgsql AS $$
DECLARE v_run int := (SELECT run FROM crawl WHERE id = p_crawl); v_named json;
BEGIN
  PERFORM FROM crawl_worker WHERE id = p_worker FOR KEY SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF p_serial THEN PERFORM pg_advisory_xact_lock(tableoid::int, p_crawl::int) FROM crawl WHERE id = p_crawl; END IF;
  PERFORM FROM crawl_tally WHERE crawl = p_crawl AND worker = p_worker FOR NO KEY UPDATE;
  PERFORM crawl_lock_turns(p_host || array_agg(p.host)) FROM unnest(p_keys) k
    LEFT JOIN crawl_page p ON p.crawl = p_crawl AND p.key = k AND p.run = v_run;
  IF NOT EXISTS (SELECT FROM crawl_claim WHERE crawl = p_crawl AND host = p_host AND depth = p_depth AND page = p_page
    AND worker = p_worker AND fence = p_fence) THEN RETURN NULL; END IF;
  v_named := (SELECT coalesce(json_agg(json_build_object('id', p.id, 'parent', p.parent, 'original', e.id,
      'state', crawl_state(p), 'stands', crawl_state(e) = 1 OR EXISTS (SELECT FROM crawl_outcome o
        WHERE o.crawl = p_crawl AND o.page = e.id AND o.run = v_run AND o.status = 0)) ORDER BY k.i)
        FILTER (WHERE p.id IS NOT NULL), '[]')
    FROM unnest(p_keys) WITH ORDINALITY k (key, i)
    LEFT JOIN crawl_page p ON p.crawl = p_crawl AND p.key = k.key AND p.run = v_run
    LEFT JOIN LATERAL (WITH RECURSIVE chain AS (SELECT p.id, p.owner, 0 AS step
        UNION ALL SELECT q.id, q.owner, step + 1 FROM chain c CROSS JOIN LATERAL (
            SELECT id, owner FROM crawl_page WHERE crawl = p_crawl AND id = c.owner OFFSET 0) q
          WHERE c.id <> p_page AND step < 1000)
      SELECT id FROM chain ORDER BY step DESC LIMIT 1) c ON true
    LEFT JOIN crawl_page e ON e.crawl = p_crawl AND e.id = c.id);
  IF json_array_length(v_named) = 0 THEN
    PERFORM crawl_identify(p_crawl, p_worker, p_page, p_depth, NULL, '{}', 0, p_keys, p_urls, p_hosts);
  END IF;
  RETURN v_named;
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Records what a page repeats, or else takes pages for duplicates of it (p_open of them wait), and its other URLs for that
-- page. Call it after `crawl_named`.
CREATE OR REPLACE FUNCTION crawl_identify(p_crawl bigint, p_worker bigint, p_page bigint, p_depth smallint, p_rival bigint,
  p_duplicates bigint[], p_open int, p_keys uuid[], p_urls text[], p_hosts bigint[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_run int := (SELECT run FROM crawl WHERE id = p_crawl); r record;
BEGIN
  IF p_rival IS NOT NULL THEN
    -- The other page must not give way as well when it finds this one under way.
    UPDATE crawl_page SET owner = p_rival WHERE crawl = p_crawl AND id = p_page;
    RETURN;
  END IF;
  IF p_duplicates <> '{}' THEN
    FOR r IN SELECT id, host, depth FROM crawl_page WHERE crawl = p_crawl AND id = ANY (p_duplicates) LOOP
      DELETE FROM crawl_queue WHERE crawl = p_crawl AND host = r.host AND depth = r.depth AND page = r.id;
      PERFORM crawl_find_heads(p_crawl, ARRAY[r.host]);
    END LOOP;
    DELETE FROM crawl_wait WHERE crawl = p_crawl AND page = ANY (p_duplicates);
    UPDATE crawl_page SET kind = 0 WHERE crawl = p_crawl AND id = ANY (p_duplicates) AND kind > 0;
    PERFORM crawl_skip(p_crawl, p_worker, p_duplicates, array_fill('duplicate'::text, ARRAY[cardinality(p_duplicates)]),
      array_fill(p_page, ARRAY[cardinality(p_duplicates)]));
    UPDATE crawl_tally SET open = open - p_open WHERE crawl = p_crawl AND worker = p_worker;
  END IF;
  INSERT INTO crawl_page AS p (crawl, id, key, url, host, depth, parent, source, run, kind)
    SELECT p_crawl, nextval('crawl_page_id'), x.key, x.url, x.host, p_depth, p_page, 2, v_run, 4
      FROM unnest(p_keys, p_urls, p_hosts) x (key, url, host)
      WHERE NOT EXISTS (SELECT FROM crawl_page o WHERE o.crawl = p_crawl AND o.key = x.key AND o.run = v_run)
      ORDER BY x.key
    ON CONFLICT (crawl, key) DO UPDATE SET depth = excluded.depth, parent = excluded.parent, kind = 4,
        source = excluded.source, run = v_run, last_modified = NULL, tries = 0, spent_ms = 0, owner = NULL
      WHERE p.run < v_run;
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Ends a worker: its claims return, as do its reserve, the hosts that it held, and the lead. One that leaves waits for
-- its last statement; one that was lost is left alone while a statement of its own is under way, or another ends it. The
-- pages of a lost one may have been asked for: they count as fetched from now on, so that no others take their place.
CREATE OR REPLACE FUNCTION crawl_bury(p_crawl bigint, p_worker bigint, p_lost boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE w crawl_worker; v_hosts bigint[]; v_count int;
BEGIN
  IF p_lost THEN
    SELECT * INTO w FROM crawl_worker WHERE id = p_worker AND crawl = p_crawl FOR UPDATE SKIP LOCKED;
  ELSE
    SELECT * INTO w FROM crawl_worker WHERE id = p_worker AND crawl = p_crawl FOR UPDATE;
  END IF;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM crawl_worker WHERE id = p_worker;
  PERFORM FROM crawl WHERE id = p_crawl FOR NO KEY UPDATE;
  PERFORM FROM crawl_tally WHERE crawl = p_crawl AND worker = p_worker FOR NO KEY UPDATE;
  v_hosts := ARRAY(SELECT host FROM crawl_claim WHERE crawl = p_crawl AND worker = p_worker
    UNION SELECT host FROM crawl_turn WHERE crawl = p_crawl AND holder = p_worker);
  PERFORM crawl_lock_turns(v_hosts);
  WITH gone AS (
    DELETE FROM crawl_claim WHERE crawl = p_crawl AND worker = p_worker RETURNING *),
  waiting AS (
    INSERT INTO crawl_wait SELECT crawl, host, page, clock_timestamp(), spent_ms, depth, tries, p_lost OR is_lost
      FROM gone WHERE tries > 0 OR p_lost OR is_lost)
  SELECT count(*) FILTER (WHERE p_lost), crawl_enqueue(p_crawl, array_agg(page) FILTER (WHERE NOT p_lost),
      array_agg(host) FILTER (WHERE NOT p_lost), array_agg(depth) FILTER (WHERE NOT p_lost))
    INTO v_count FROM gone WHERE tries = 0 AND NOT is_lost;
  UPDATE crawl_tally SET fetched = fetched + v_count WHERE v_count > 0 AND crawl = p_crawl AND worker = p_worker;
  UPDATE crawl c SET reserved = c.reserved - w.reserved + t.fetched,
      leader_until = CASE WHEN c.leader = p_worker THEN '-infinity' ELSE c.leader_until END
    FROM crawl_tally t WHERE c.id = p_crawl AND t.crawl = p_crawl AND t.worker = p_worker;
  UPDATE crawl_turn SET next_at = clock_timestamp(), holder = NULL WHERE host = ANY (v_hosts) AND holder = p_worker;
  RETURN true;
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Lets a worker begin. Returns false if the crawl has been restarted since.
CREATE OR REPLACE FUNCTION crawl_join(p_crawl bigint, p_worker bigint, p_session int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM crawl WHERE id = p_crawl AND session = p_session AND place IS NOT NULL FOR SHARE;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO crawl_worker (id, crawl, seen_at) VALUES (p_worker, p_crawl, clock_timestamp()) ON CONFLICT DO NOTHING;
  INSERT INTO crawl_tally (crawl, worker) VALUES (p_crawl, p_worker) ON CONFLICT DO NOTHING;
  RETURN true;
END $$;

-- Says that the worker lives, takes or keeps the lead where it may, and ends workers that have not been seen for p_dead ms.
-- The answer is null for a worker that is dead itself.
CREATE OR REPLACE FUNCTION crawl_beat(p_crawl bigint, p_worker bigint, p_can_lead boolean, p_dead int) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE v_now timestamptz := clock_timestamp(); v_dead interval := p_dead * interval '1 ms'; r record; c crawl; v_buried int := 0;
BEGIN
  UPDATE crawl_worker SET seen_at = v_now WHERE id = p_worker;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF p_can_lead THEN
    UPDATE crawl SET leader = p_worker, leader_fence = leader_fence + (leader IS DISTINCT FROM p_worker)::int,
        leader_until = v_now + v_dead
      WHERE id = p_crawl AND (leader = p_worker OR leader_until < v_now);
  END IF;
  FOR r IN SELECT id FROM crawl_worker WHERE crawl = p_crawl AND seen_at < v_now - v_dead LOOP
    v_buried := v_buried + crawl_bury(p_crawl, r.id, true)::int;
  END LOOP;
  SELECT * INTO c FROM crawl WHERE id = p_crawl;
  RETURN json_build_object('fence', CASE WHEN c.leader = p_worker AND c.leader_until > v_now THEN c.leader_fence END,
    'session', c.session, 'isSeeded', c.is_seeded, 'isFinished', c.is_finished, 'stopped', c.stopped, 'buried', v_buried);
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Takes outcomes that no leader has taken. p_workers and p_told say how far this leader has told those of each worker.
CREATE OR REPLACE FUNCTION crawl_take_recorded(p_crawl bigint, p_worker bigint, p_fence bigint, p_workers bigint[], p_told bigint[],
  p_limit int)
RETURNS json LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  IF NOT crawl_leads(p_crawl, p_worker, p_fence) THEN RETURN NULL; END IF;
  FOR r IN SELECT * FROM unnest(p_workers, p_told) x (worker, n) ORDER BY x.worker LOOP
    UPDATE crawl_tally SET told = r.n WHERE crawl = p_crawl AND worker = r.worker AND told < r.n;
  END LOOP;
  RETURN (SELECT json_agg(json_build_array(y.worker, y.n, y.fence IS NOT NULL, json_build_array(p.url, p.depth, q.url,
      y.status, y.file_path, y.word_count, y.title, y.http_status, y.final_url, y.duration_ms, y.content_hash, y.warnings,
      y.error_code, y.error_message, y.reason, y.change, y.fetcher, y.error_block)) ORDER BY y.recorded_at, y.worker, y.n)
    FROM (SELECT o.* FROM crawl_tally t CROSS JOIN LATERAL (SELECT * FROM crawl_outcome u
        WHERE u.worker = t.worker AND u.n > t.told AND u.crawl = p_crawl ORDER BY u.n LIMIT p_limit) o
      WHERE t.crawl = p_crawl AND t.recorded > t.told LIMIT p_limit) y
    LEFT JOIN crawl_page p ON p.crawl = p_crawl AND p.id = y.page
    LEFT JOIN crawl_page q ON q.crawl = p_crawl AND q.id = p.parent);
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Ends the queue, then drops the queued pages with the next ids: seeds and sitemap URLs become entries. Returns the last
-- dropped id, or null when nothing is left or the process does not lead.
CREATE OR REPLACE FUNCTION crawl_drop(p_crawl bigint, p_worker bigint, p_fence bigint, p_after bigint, p_limit int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE v_last bigint; v_entries bigint[]; v_count int := 0; v_tries smallint; v_spent int; v_lost boolean;
  v_uncounted int := 0; r record;
BEGIN
  IF NOT crawl_leads(p_crawl, p_worker, p_fence) THEN RETURN NULL; END IF;
  PERFORM FROM crawl_tally WHERE crawl = p_crawl AND worker = p_worker FOR NO KEY UPDATE;
  IF p_after = 0 THEN
    PERFORM crawl_lock_turns(ARRAY(SELECT host FROM crawl_turn WHERE crawl = p_crawl AND head_depth IS NOT NULL));
    UPDATE crawl_turn SET head_depth = NULL WHERE crawl = p_crawl AND head_depth IS NOT NULL;
  END IF;
  IF NOT EXISTS (SELECT FROM crawl_queue WHERE crawl = p_crawl) AND NOT EXISTS (SELECT FROM crawl_wait WHERE crawl = p_crawl)
  THEN RETURN NULL; END IF;
  FOR r IN SELECT id, host, depth, source FROM crawl_page WHERE crawl = p_crawl AND id > p_after ORDER BY id LIMIT p_limit
  LOOP
    v_last := r.id;
    v_tries := 0;
    v_spent := 0;
    DELETE FROM crawl_queue WHERE crawl = p_crawl AND host = r.host AND depth = r.depth AND page = r.id;
    IF NOT FOUND THEN
      DELETE FROM crawl_wait WHERE crawl = p_crawl AND page = r.id
        RETURNING tries, spent_ms, is_lost INTO v_tries, v_spent, v_lost;
      CONTINUE WHEN NOT FOUND;
      v_uncounted := v_uncounted + (v_lost AND v_tries = 0)::int;
    END IF;
    UPDATE crawl_page SET kind = 5, tries = v_tries, spent_ms = v_spent WHERE crawl = p_crawl AND id = r.id;
    v_count := v_count + 1;
    IF r.source < 2 THEN v_entries := v_entries || r.id; END IF;
  END LOOP;
  IF v_entries IS NOT NULL THEN
    PERFORM crawl_skip(p_crawl, p_worker, v_entries, array_fill('max_pages'::text, ARRAY[cardinality(v_entries)]),
      array_fill(NULL::bigint, ARRAY[cardinality(v_entries)]));
  END IF;
  UPDATE crawl_tally SET open = open - v_count, fetched = fetched - v_uncounted
    WHERE crawl = p_crawl AND worker = p_worker;
  RETURN v_last;
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Queues what an earlier run of the program left over and this depth admits. Returns how many.
CREATE OR REPLACE FUNCTION crawl_requeue_left(p_crawl bigint, p_worker bigint, p_fence bigint, p_depth int, p_limit int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  v_run int := (SELECT run FROM crawl WHERE id = p_crawl);
  v_ids bigint[]; v_hosts bigint[]; v_depths smallint[]; v_tries smallint[]; v_spent int[]; v_entries int;
BEGIN
  IF NOT crawl_leads(p_crawl, p_worker, p_fence) THEN RETURN 0; END IF;
  PERFORM FROM crawl_tally WHERE crawl = p_crawl AND worker = p_worker FOR NO KEY UPDATE;
  SELECT array_agg(id), array_agg(host), array_agg(depth), array_agg(tries), array_agg(spent_ms)
    INTO v_ids, v_hosts, v_depths, v_tries, v_spent
    FROM (SELECT * FROM crawl_page WHERE crawl = p_crawl AND run = v_run AND kind >= 5 AND depth <= p_depth
      ORDER BY depth LIMIT p_limit) x;
  IF v_ids IS NULL THEN RETURN 0; END IF;
  PERFORM crawl_lock_turns(v_hosts);
  UPDATE crawl_page SET kind = 0 WHERE crawl = p_crawl AND id = ANY (v_ids);
  DELETE FROM crawl_outcome WHERE crawl = p_crawl AND page = ANY (v_ids) AND run = v_run AND reason = 'max_pages';
  GET DIAGNOSTICS v_entries = ROW_COUNT;
  INSERT INTO crawl_wait SELECT p_crawl, x.host, x.id, clock_timestamp(), x.spent, x.depth, x.tries
    FROM unnest(v_ids, v_hosts, v_depths, v_tries, v_spent) x (id, host, depth, tries, spent) WHERE x.tries > 0;
  PERFORM crawl_enqueue(p_crawl, array_agg(x.id), array_agg(x.host), array_agg(x.depth))
    FROM unnest(v_ids, v_hosts, v_depths, v_tries) x (id, host, depth, tries) WHERE x.tries = 0;
  UPDATE crawl_tally SET open = open + cardinality(v_ids), skipped = skipped - v_entries
    WHERE crawl = p_crawl AND worker = p_worker;
  RETURN cardinality(v_ids);
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Follows the links of a page that were too deep, once.
CREATE OR REPLACE FUNCTION crawl_follow_deep(p_crawl bigint, p_worker bigint, p_fence bigint, p_page bigint, p_keys uuid[],
  p_urls text[], p_hosts bigint[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT crawl_leads(p_crawl, p_worker, p_fence) THEN RETURN; END IF;
  PERFORM FROM crawl_tally WHERE crawl = p_crawl AND worker = p_worker FOR NO KEY UPDATE;
  UPDATE crawl_link SET too_deep = 0 WHERE crawl = p_crawl AND page = p_page AND too_deep > 0;
  IF FOUND THEN
    PERFORM crawl_add_pages(p_crawl, p_worker, array_fill(1, ARRAY[cardinality(p_keys)]), p_keys, p_urls, p_hosts,
      ARRAY[depth + 1]::smallint[], ARRAY[p_page], '{2}', NULL, NULL, '{}') FROM crawl_page WHERE crawl = p_crawl AND id = p_page;
  END IF;
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Queues stored pages that this run has not met, after that page. Returns their number and the last of them. A call that
-- is repeated, since its answer was lost, answers the same.
CREATE OR REPLACE FUNCTION crawl_queue_unmet(p_crawl bigint, p_worker bigint, p_fence bigint, p_depth int, p_after bigint, p_limit int,
  p_call bigint)
RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE v_run int; v_epoch int; v_before bigint[]; v_ids bigint[]; v_hosts bigint[]; v_depths smallint[];
BEGIN
  IF NOT crawl_leads(p_crawl, p_worker, p_fence) THEN RETURN NULL; END IF;
  PERFORM FROM crawl WHERE id = p_crawl FOR NO KEY UPDATE;
  SELECT run, epoch, CASE WHEN unmet_call = p_call THEN unmet END INTO v_run, v_epoch, v_before FROM crawl WHERE id = p_crawl;
  IF v_before IS NOT NULL THEN RETURN v_before; END IF;
  PERFORM FROM crawl_tally WHERE crawl = p_crawl AND worker = p_worker FOR NO KEY UPDATE;
  SELECT array_agg(id ORDER BY id), array_agg(host ORDER BY id), array_agg(depth ORDER BY id)
    INTO v_ids, v_hosts, v_depths FROM (
      SELECT p.id, p.host, p.depth FROM crawl_stored s CROSS JOIN LATERAL (
          SELECT * FROM crawl_page o WHERE o.crawl = p_crawl AND o.id = s.page OFFSET 0) p
        WHERE s.crawl = p_crawl AND s.page > p_after AND p.run < v_run AND p.depth <= p_depth
          AND NOT (s.is_gone AND s.epoch < v_epoch)
        ORDER BY s.page LIMIT p_limit) x;
  IF v_ids IS NULL THEN RETURN NULL; END IF;
  UPDATE crawl_page SET run = v_run, source = 3, kind = 0, last_modified = NULL, tries = 0, spent_ms = 0, owner = NULL
    WHERE crawl = p_crawl AND id = ANY (v_ids);
  PERFORM crawl_lock_turns(v_hosts);
  PERFORM crawl_enqueue(p_crawl, v_ids, v_hosts, v_depths);
  UPDATE crawl_tally SET open = open + cardinality(v_ids) WHERE crawl = p_crawl AND worker = p_worker;
  UPDATE crawl SET unmet_call = p_call, unmet = ARRAY[cardinality(v_ids), v_ids[cardinality(v_ids)]] WHERE id = p_crawl;
  RETURN ARRAY[cardinality(v_ids), v_ids[cardinality(v_ids)]];
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Prepares a crawl that continues under the given limit of depth. Nobody may be working on it, and its row is locked.
CREATE OR REPLACE FUNCTION crawl_go_on(p_crawl bigint, p_again boolean, p_depth int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_run int := (SELECT run FROM crawl WHERE id = p_crawl); v_failed int; v_fetched int;
  v_deep int := 0; r record;
BEGIN
  INSERT INTO crawl_tally (crawl, worker) VALUES (p_crawl, 0) ON CONFLICT DO NOTHING;
  -- A requested page has a duration, and counted as fetched.
  WITH again AS (
    DELETE FROM crawl_outcome WHERE p_again AND crawl = p_crawl AND run = v_run AND status = 1 RETURNING page, duration_ms),
  queued AS (
    INSERT INTO crawl_queue SELECT p_crawl, p.host, p.id, p.depth
      FROM again a LEFT JOIN crawl_page p ON p.crawl = p_crawl AND p.id = a.page)
  SELECT count(*), count(duration_ms) INTO v_failed, v_fetched FROM again;
  FOR r IN SELECT page, 0 AS tries, 0 AS spent, false AS is_lost FROM crawl_queue WHERE crawl = p_crawl AND depth > p_depth
    UNION ALL SELECT page, tries, spent_ms, is_lost FROM crawl_wait WHERE crawl = p_crawl AND depth > p_depth
  LOOP
    v_fetched := v_fetched + (r.is_lost AND r.tries = 0)::int;
    UPDATE crawl_page SET kind = 6, tries = r.tries, spent_ms = r.spent WHERE crawl = p_crawl AND id = r.page;
    v_deep := v_deep + 1;
  END LOOP;
  DELETE FROM crawl_queue WHERE crawl = p_crawl AND depth > p_depth;
  DELETE FROM crawl_wait WHERE crawl = p_crawl AND depth > p_depth;
  UPDATE crawl_page SET kind = 6 WHERE crawl = p_crawl AND run = v_run AND kind = 5 AND depth > p_depth;
  UPDATE crawl_tally SET failed = failed - v_failed, fetched = fetched - v_fetched, open = open + v_failed - v_deep
    WHERE crawl = p_crawl AND worker = 0;
  PERFORM crawl_find_heads(p_crawl, ARRAY(SELECT id FROM crawl_host WHERE crawl = p_crawl));
  UPDATE crawl SET reserved = (SELECT sum(fetched) FROM crawl_tally WHERE crawl = p_crawl) WHERE id = p_crawl;
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Makes a finished crawl ready to be repeated, when nobody works on it and its row is locked.
CREATE OR REPLACE FUNCTION crawl_repeat(p_crawl bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM crawl_queue WHERE crawl = p_crawl;
  DELETE FROM crawl_wait WHERE crawl = p_crawl;
  DELETE FROM crawl_claim WHERE crawl = p_crawl;
  DELETE FROM crawl_tally WHERE crawl = p_crawl;
  DELETE FROM crawl_skipped_link WHERE crawl = p_crawl;
  DELETE FROM crawl_warning WHERE crawl = p_crawl;
  DELETE FROM crawl_origin WHERE crawl = p_crawl;
  UPDATE crawl_turn SET head_depth = NULL, holder = NULL, next_at = CASE WHEN next_at = 'infinity' THEN '-infinity' ELSE next_at END
    WHERE crawl = p_crawl;
  UPDATE crawl SET reserved = 0, origins = 0 WHERE id = p_crawl;
END $$ SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_material = off SET enable_memoize = off SET jit = off SET plan_cache_mode = force_generic_plan;

-- Ends workers that died when their crawl was over and nobody worked on it any more, and deletes some rows of crawls that
-- were begun afresh. Returns whether there may be more.
CREATE OR REPLACE FUNCTION crawl_sweep(p_limit int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_crawl bigint; v_table text; v_count int;
BEGIN
  PERFORM crawl_bury(w.crawl, w.id, true) FROM crawl_worker w JOIN crawl c ON c.id = w.crawl
    WHERE (c.is_finished OR c.stopped IS NOT NULL) AND w.seen_at < clock_timestamp() - interval '1 minute';
  SELECT id INTO v_crawl FROM crawl WHERE place IS NULL LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  FOREACH v_table IN ARRAY '{worker,claim,queue,wait,tally,turn,outcome,stored,link,skipped_link,origin,warning,host,page}'::text[]
  LOOP
    EXECUTE format('DELETE FROM %I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE crawl = $1 LIMIT $2))', 'crawl_' || v_table)
      USING v_crawl, p_limit;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count > 0 THEN RETURN true; END IF;
  END LOOP;
  DELETE FROM crawl WHERE id = v_crawl;
  RETURN true;
END $$;
