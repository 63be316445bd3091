import { setting, text } from "./values.ts";

/** The settings of the state that several processes share; without them each process keeps its own. */
export const SHARED_STATE = {
  databaseUrl: setting<string | null>(
    "ARTICLE_EXTRACTOR_DATABASE_URL",
    text,
    null,
    "PostgreSQL that several processes share: postgres://user:password@host:5432/database; unset: each process keeps its state on its own disk",
  ),
  databaseSchema: setting(
    "ARTICLE_EXTRACTOR_DATABASE_SCHEMA",
    text,
    "article_extractor",
    "schema in that database which holds our tables",
  ),
} as const;
