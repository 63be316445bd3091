import type { EmbeddedPage } from "./embedded.ts";

/** The page at `/` of `serve extractor`; its files are served below `web/`. Null while there is none. */
export const EXTRACTOR_PAGE: EmbeddedPage | null = null;
