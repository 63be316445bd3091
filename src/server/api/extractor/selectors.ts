import type { ArticleSession } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { ExtractionOptions } from "../../../extraction/index.ts";
import type { InvalidField } from "../../middleware/problem.ts";
import { invalidRequest } from "../openapi.ts";

/**
 * Tries the selectors of a request on a page of one word.
 * @throws ProblemError 422 that names the fields with invalid selectors
 */
export async function requireSelectors(
  extraction: ExtractionOptions,
  session: ArticleSession,
  signal: AbortSignal,
): Promise<void> {
  const { select, exclude } = extraction;
  if (select === null && exclude.length === 0) return;
  const areAllGood = (selectors: Pick<ExtractionOptions, "select" | "exclude">): Promise<boolean> =>
    areSelectors({ ...extraction, ...selectors }, session, signal);
  if (await areAllGood({ select, exclude })) return;
  const errors: InvalidField[] = [];
  if (select !== null && !(await areAllGood({ select, exclude: [] })))
    errors.push(invalidSelector("options.select", select));
  for (const [index, selector] of exclude.entries())
    if (!(await areAllGood({ select: null, exclude: [selector] })))
      errors.push(invalidSelector(`options.exclude.${index}`, selector));
  throw invalidRequest(errors[0]?.message ?? "options: a selector is not a CSS selector", errors);
}

const invalidSelector = (path: string, selector: string): InvalidField => ({
  path,
  message: `${path}: ${JSON.stringify(selector.slice(0, 200))} is not a CSS selector`,
});

async function areSelectors(
  extraction: ExtractionOptions,
  session: ArticleSession,
  signal: AbortSignal,
): Promise<boolean> {
  const page = { name: "selectors", kind: "html", body: "<p>word</p>", url: null, warnings: [] } as const;
  try {
    await session.fromDocument(page, extraction, signal);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === "invalid_usage") return false;
    // A selector that matches nothing here is still valid.
    if (error.code !== "no_content") throw error;
  }
  return true;
}
