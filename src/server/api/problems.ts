import { type ApiAnswer, z } from "./openapi.ts";

const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: "For people" }),
    code: z.string().openapi({ description: "Stable, for programs", example: "no_content" }),
    request_id: z.string(),
    target_status: z
      .int()
      .optional()
      .openapi({ description: "HTTP status that the page itself answered with, where it answered" }),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .openapi({ description: "The fields that are wrong" }),
  })
  .openapi("Problem", { description: "RFC 9457" });

/** Describes an answer that is a problem. */
export const problem = (description: string, headers?: ApiAnswer["headers"]): ApiAnswer => ({
  description,
  content: { "application/problem+json": Problem },
  ...(headers ? { headers } : {}),
});

const RETRY_AFTER = { "Retry-After": { description: "Seconds to wait" } };

/** Problems that any operation may answer with. */
export const EVERYWHERE: Readonly<Record<number, ApiAnswer>> = {
  403: problem("The Host or Origin is not one that the server answers to"),
  500: problem("A fault inside the server, or its disk"),
};

/** The problem of operations that tell of all tenants together. */
export const LIMITED = problem(
  "The API key or token is for some tenants only; or the Host or Origin is not one that the server answers to",
);

/** Problems of operations that need the key. */
export const GUARDED: Readonly<Record<number, ApiAnswer>> = {
  401: problem("The API key is missing or wrong", {
    "WWW-Authenticate": { description: "How to send it" },
  }),
  503: problem("The server is ending", RETRY_AFTER),
};

/** Problems of reading a JSON body. */
export const BODY_PROBLEMS: Readonly<Record<number, ApiAnswer>> = {
  400: problem("The body is not JSON"),
  408: problem("The body took longer than 10 s to arrive"),
  413: problem("The body is over 2 MiB"),
  415: problem("The body is not application/json"),
  422: problem("Fields are wrong; `errors` names each"),
};

/** Problems of fetching and extracting a page. */
export const PAGE_PROBLEMS: Readonly<Record<number, ApiAnswer>> = {
  403: problem("The egress policy refuses an address, or the Origin is foreign"),
  422: problem("Fields are wrong, or the page holds nothing to extract"),
  429: problem("More requests at once than the server takes", RETRY_AFTER),
  502: problem("The target could not be reached or answered with an error; `target_status` has its status"),
  504: problem("The target or the extraction took too long"),
};

export const UNKNOWN_JOB = problem("There is no such job");
