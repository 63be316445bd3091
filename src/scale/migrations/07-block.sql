-- What a page is blocked by, as JSON.
ALTER TABLE crawl_outcome ADD COLUMN error_block text;
