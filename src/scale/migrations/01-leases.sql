-- A lease is held by its owner until it expires; each new holding has a higher fence, so a lease's row stays.
CREATE TABLE lease (
  name text PRIMARY KEY,
  owner text,
  fence bigint NOT NULL,
  expires_at timestamptz NOT NULL
);
