import { whole } from "./kinds.ts";
import type { Elsewhere, OptionTable } from "./option.ts";

/** How long the chunks of a text are. */
export const CHUNKS = {
  maxTokens: {
    kind: whole(50, 100_000),
    byDefault: 512,
    means: "Most tokens of a chunk",
    flag: "--chunk-tokens N",
    field: "chunk_tokens",
  },
  overlap: {
    kind: whole(0, 10_000),
    byDefault: 0,
    means: "About as many tokens of the chunk before are repeated, within a section",
    flag: "--chunk-overlap N",
    field: "chunk_overlap",
  },
} as const satisfies OptionTable;

/** Why these are not at every door. */
export const CHUNKS_ELSEWHERE: Elsewhere = {
  variable: "a matter of one index",
  library: "the library is one page at a time; its Markdown can be cut as one likes",
  argument: "a model reads parts that answer a question",
  label: "the page shows the whole article",
};
