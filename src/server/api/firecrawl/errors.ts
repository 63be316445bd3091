import type { Layer } from "../../middleware/exchange.ts";
import { logFault, type ProblemError, toProblem } from "../../middleware/problem.ts";
import { READER } from "./reader.ts";

/**
 * Firecrawl's clients ask again by themselves at 502, which would ask a site that fails three times as often; and they
 * know a page that takes too long by 408.
 */
const FIRECRAWL_STATUS: Readonly<Record<number, number>> = { 502: 500, 504: 408 };

/** Gives the errors of Firecrawl's and Jina's paths the form that their clients read. */
export const otherErrorForms: Layer = (next) => async (exchange) => {
  const form = formOf(exchange.path);
  if (!form) return next(exchange);
  try {
    return await next(exchange);
  } catch (error) {
    const problem = toProblem(error);
    if (problem.code === "internal") logFault(exchange.log, error);
    return form(problem);
  }
};

function formOf(path: string): ((problem: ProblemError) => Response) | null {
  if (/^\/(?:firecrawl|v2)(?:\/|$)/.test(path)) return asFirecrawl;
  return path.startsWith(READER) ? asJina : null;
}

const asFirecrawl = ({
  status,
  code,
  message,
  extras: { errors, headers, members },
}: ProblemError): Response =>
  Response.json(
    { success: false, code, error: message, ...members, ...(errors && { details: errors }) },
    { status: FIRECRAWL_STATUS[status] ?? status, headers: { ...headers } },
  );

const asJina = ({ status, code, message, extras: { headers } }: ProblemError): Response =>
  Response.json(
    { data: null, code: status, status: status * 100, name: code, message, readableMessage: message },
    { status, headers: { ...headers } },
  );
