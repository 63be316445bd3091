import { Failure } from "../../base/failure.ts";
import type { FallbackExtractor } from "../../crawler/index.ts";
import type { ExtractionOptions, Extractor } from "../../extraction/index.ts";
import type { Poster, PostResponse } from "../../fetching/index.ts";
import type { PageUrl } from "../../urls/index.ts";

/** The remote extractor that is asked when a page fails here (`article_extractor_fallback` in docs/tenants.md). */
export type RemoteExtractor = {
  readonly endpoint: PageUrl;
  /** The time limit of one request, in ms. */
  readonly timeoutMs: number;
  /** The number of requests after the first failed one. */
  readonly maxRetries: number;
  /** The bearer token; null sends none. */
  readonly token: string | null;
  readonly poster: Poster;
};

type ReadAnswer = {
  readonly extractor: Pick<Extractor, "extract">;
  readonly options: ExtractionOptions;
};

/** Makes an extractor that requests one page at a time, whatever the service accepts at once. */
export function createFallbackExtractor(remote: RemoteExtractor, reading: ReadAnswer): FallbackExtractor {
  return async (url, signal) => {
    const answer = await post(remote, { url }, signal);
    if (answer.status < 200 || answer.status > 299)
      throw new Failure("http_status", `POST ${remote.endpoint} answered HTTP ${answer.status}`);
    const { title, markdown, content } = readAnswer(remote.endpoint, answer);
    const body = markdown ?? content;
    if (body === null) return null;
    const kind = markdown === null ? ("html" as const) : ("markdown" as const);
    const task = { kind, body, url, options: reading.options };
    const { article } = await reading.extractor.extract(task, signal);
    return article && { ...article, title: title ?? article.title };
  };
}

/**
 * Checks that something answers at the endpoint, whatever the answer is.
 * @throws Failure `invalid_settings`
 */
export async function requireReachable(remote: RemoteExtractor, signal: AbortSignal): Promise<void> {
  try {
    await post({ ...remote, maxRetries: 0 }, {}, signal);
  } catch (cause) {
    if (!(cause instanceof Failure) || signal.aborted) throw cause;
    throw new Failure(
      "invalid_settings",
      `infrastructure.article_extractor_fallback.endpoint: nobody answers at ${remote.endpoint}: ${cause.message}`,
      { cause },
    );
  }
}

const post = (
  { poster, endpoint, timeoutMs, maxRetries, token }: RemoteExtractor,
  json: unknown,
  signal: AbortSignal,
): Promise<PostResponse> =>
  poster.post(endpoint, {
    json,
    signal,
    tries: maxRetries + 1,
    deadlineMs: (maxRetries + 1) * timeoutMs + maxRetries * MAX_BACK_OFF_MS,
    authorization: token === null ? null : `Bearer ${token}`,
  });

/** The longest wait between two tries. */
const MAX_BACK_OFF_MS = 8_000;

type Answer = Readonly<Record<"title" | "markdown" | "content", string | null>>;

function readAnswer(endpoint: PageUrl, { text }: PostResponse): Answer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Failure("unsupported_content", `POST ${endpoint} answered no JSON`, { cause });
  }
  const field = (name: string): string | null => {
    const found = typeof value === "object" && value !== null ? Reflect.get(value, name) : null;
    return typeof found === "string" && found.trim() !== "" ? found : null;
  };
  return { title: field("title"), markdown: field("markdown"), content: field("content") };
}
