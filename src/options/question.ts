import { text, whole } from "./kinds.ts";
import type { Elsewhere, OptionTable } from "./option.ts";

/** What of one page is wanted: only the parts that answer something. */
export const QUESTION = {
  query: {
    kind: text(2000),
    byDefault: null,
    means: "Only the parts of the text that answer this best, whole blocks under their headings",
    flag: "--query TEXT",
    field: "query",
    library: "query",
    argument: "query",
    example: null,
  },
  maxTokens: {
    kind: whole(50, 100_000),
    byDefault: 500,
    means: "With a query: about the most tokens of its parts; a single longer block comes alone",
    flag: "--max-tokens N",
    field: "max_tokens",
    library: "maxTokens",
    argument: "max_tokens",
  },
} as const satisfies OptionTable;

/** Why these are not at every door. */
export const QUESTION_ELSEWHERE: Elsewhere = {
  variable: "a question is asked once",
  label: "the page shows the whole article",
};
