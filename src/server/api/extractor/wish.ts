import {
  articleFields,
  DEFAULT_WORD,
  type FetchedArticle,
  fieldsNamed,
  renderingsFor,
} from "../../../articles/index.ts";
import { chunksOfArticle } from "../../../chunks.ts";
import { withStored } from "../../../extraction/index.ts";
import { CHUNKS, defaultsOf, QUESTION, valuesFrom } from "../../../options/index.ts";
import { partsFor, type Question } from "../../../question.ts";
import { invalidRequest } from "../openapi.ts";
import { CHUNKS_FIELD, type ExtractionRequestFields } from "./schemas/requests.ts";

/** What of an article a request wants. */
export type ArticleWish = Omit<ExtractionRequestFields, "url" | "network" | "prefer_browser" | "options">;

/** Reads which fields a request wants, and what they need. @throws ProblemError 422 for a limit without a query */
export function readWish(request: ArticleWish) {
  const names = request.fields ?? [DEFAULT_WORD];
  const fields = fieldsNamed(names.filter((name) => name !== CHUNKS_FIELD));
  const hasChunks = names.includes(CHUNKS_FIELD);
  const question = readQuestion(request);
  const isWhole = question.query === null && !hasChunks;
  const renderings = isWhole ? renderingsFor(fields) : withStored(renderingsFor(fields));
  const chunks = hasChunks ? valuesFrom(CHUNKS, "field", request, defaultsOf(CHUNKS)) : null;
  return { fields, question, renderings, chunks };
}

/** The fields of an article on the wire that a request wants. */
export async function fieldsOf(whole: FetchedArticle, wish: ReturnType<typeof readWish>) {
  const { fields, question, chunks } = wish;
  const fetched = await partsFor(whole, question);
  return { ...articleFields(fetched, fields), chunks: chunks ? chunksOfArticle(fetched, chunks) : undefined };
}

function readQuestion(request: ArticleWish): Question {
  const { query = null, max_tokens: maxTokens = null } = request;
  if (query === null && maxTokens !== null)
    throw invalidRequest("max_tokens: goes with query", [{ path: "max_tokens", message: "goes with query" }]);
  return valuesFrom(QUESTION, "field", request, defaultsOf(QUESTION));
}
