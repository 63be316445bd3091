-- By which fetcher a page came.
ALTER TABLE crawl_outcome ADD COLUMN fetcher text;
