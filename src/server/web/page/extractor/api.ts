import { pause } from "../../../../base/abort.ts";
import { withScheme } from "../../../../urls/index.ts";
import type * as answers from "../../../api/extractor/schemas/answers.ts";
import type { z } from "../../../api/openapi.ts";
import { RequestFailed, request, requestJson } from "../http.ts";

export type Article = z.infer<typeof answers.ExtractionResult>;

export type PageBlock = NonNullable<z.infer<typeof answers.AskedFields>["blocks"]>[number];

/** The request for a page, with the options that the form offers. */
export type ExtractionBody = {
  readonly url: string;
  readonly prefer_browser?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
};

/** An article, and what became of the blocks of its page; null where nothing was chosen. */
export type ExtractedPage = { readonly article: Article; readonly blocks: readonly PageBlock[] | null };

export async function extractPage(body: ExtractionBody, signal: AbortSignal): Promise<ExtractedPage> {
  const options = { method: "POST", body: { ...body, fields: ["default", "blocks"] }, signal } as const;
  const { blocks, ...article } = await requestJson<Article & { readonly blocks: ExtractedPage["blocks"] }>(
    "./",
    options,
  );
  return { article, blocks };
}

/** The values that the server takes for fields which a request leaves out, by name; empty without an answer. */
export async function readDefaults(
  schema: "CrawlRequest" | "ExtractionOptions",
): Promise<Readonly<Record<string, string>>> {
  const document = await requestJson<ApiDocument>("openapi.json").catch(() => null);
  const fields = Object.entries(document?.components.schemas[schema]?.properties ?? {});
  return Object.fromEntries(fields.map(([name, field]) => [name, String(field.default ?? "")]));
}

type ApiFields = Readonly<Record<string, { readonly default?: unknown }>>;
type ApiDocument = {
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: ApiFields }>> };
};

export type Job = z.infer<typeof answers.JobStatus>;

/** A page of a crawl as the manifest describes it. */
export type CrawledPage = z.infer<typeof answers.Manifest>["results"][number];

export type Notice = {
  readonly notice: string;
  readonly host?: string;
  readonly sitemap?: string;
  readonly directory?: string;
  readonly failure?: { readonly message?: string };
};

export const isOver = ({ status }: Job): boolean => status === "completed" || status === "failed";

const jobPath = (id: string): string => `crawl/${encodeURIComponent(id)}`;

export const listJobs = (signal?: AbortSignal): Promise<z.infer<typeof answers.JobList>> =>
  requestJson("crawl", { signal });

export const readJob = (id: string, signal: AbortSignal): Promise<Job> =>
  requestJson(jobPath(id), { signal });

export const submitCrawl = (body: object): Promise<{ readonly job_id: string }> =>
  requestJson("crawl", { method: "POST", body });

export const cancelJob = (id: string): Promise<Job> => requestJson(jobPath(id), { method: "DELETE" });

export type JobOutcomes = z.infer<typeof answers.JobOutcomes>;

/** Which pages of a crawl are listed. */
export type PagesWish = { readonly status?: string; readonly reason?: string; readonly host?: string };

export const readOutcomes = (id: string, signal: AbortSignal): Promise<JobOutcomes> =>
  requestJson(`${jobPath(id)}/outcomes`, { signal });

export const readPages = (
  id: string,
  { offset, limit, ...wish }: PagesWish & { readonly offset: number; readonly limit: number },
): Promise<z.infer<typeof answers.JobPages>> => {
  const fields = new URLSearchParams({ ...wish, offset: String(offset), limit: String(limit) });
  return requestJson(`${jobPath(id)}/pages?${fields}`);
};

/** Downloads of a finished crawl, by their paths. */
export const DOWNLOADS = {
  zip: { label: "ZIP", path: "download?format=zip", file: "crawl.zip" },
  jsonl: { label: "JSONL", path: "download?format=jsonl", file: "crawl.jsonl" },
  "llms.txt": { label: "llms.txt", path: "download?format=llms.txt", file: "llms.txt" },
  manifest: { label: "Manifest", path: "manifest", file: "manifest.json" },
} as const;

export const downloadPath = (id: string, what: keyof typeof DOWNLOADS): string =>
  `${jobPath(id)}/${DOWNLOADS[what].path}`;

export const eventsPath = (id: string): string => `${jobPath(id)}/events`;

/** The waits between tries to reconnect, in ms; the last one is repeated. */
const WAITS_MS = [500, 1000, 2000, 5000, 10_000];
/** An event is a page or a status, so a longer one is not ours. */
const MAX_EVENT = 1_000_000;

/**
 * Follows server-sent events (WHATWG HTML, section 9.2) with `fetch`, because `EventSource` cannot send a
 * key. A stream that breaks off is resumed after the last event.
 * @param onBreak called when the connection is lost, and with null when it is back
 * @throws RequestFailed for answers that another try cannot improve; AbortError by the signal
 */
export async function* followEvents(
  path: string,
  signal: AbortSignal,
  onBreak: (error: unknown) => void,
): AsyncGenerator<{ readonly kind: string; readonly data: string }, void> {
  let lastId = "";
  let failures = 0;
  for (;;) {
    try {
      const headers = { accept: "text/event-stream", ...(lastId === "" ? {} : { "last-event-id": lastId }) };
      const response = await request(path, { headers, signal });
      // The stream is complete.
      if (response.status === 204 || !response.body) return;
      onBreak(null);
      for await (const event of readEvents(response.body)) {
        failures = 0;
        if (event.id !== undefined) lastId = event.id;
        const kind = event.event ?? "message";
        yield { kind, data: event.data };
        if (kind === "end") return;
      }
    } catch (error) {
      signal.throwIfAborted();
      const isFinal = error instanceof RequestFailed && error.status >= 400 && error.status < 500;
      if (isFinal && error.status !== 429) throw error;
      onBreak(error);
    }
    signal.throwIfAborted();
    await pause(WAITS_MS[Math.min(failures++, WAITS_MS.length - 1)]!, signal);
  }
}

type ServerEvent = { readonly id?: string; readonly event?: string; readonly data: string };

/** Reads events as our server writes them: lines end in LF, and each field has one of them. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  // TypeScript's declarations of the two streams differ in what they take besides byte arrays.
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
  const reader = body.pipeThrough(decoder).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop() ?? "";
      if (rest.length > MAX_EVENT) throw new RangeError("an event that does not end");
      for (const event of events) {
        const fields = Object.fromEntries(event.split("\n").map((line) => line.split(/: ?(.*)/s, 2)));
        // A comment, which keeps the connection open, has no data.
        if (fields.data !== undefined) yield fields;
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** An address that somebody typed: the complete one, or what is wrong with it. */
type Address =
  | { readonly url: string; readonly problem: null }
  | { readonly url: null; readonly problem: string };

/** Completes an address, because people omit the scheme and paste spaces around it. */
export function readAddress(written: string): Address {
  const text = written.trim();
  if (text === "") return { url: null, problem: "Paste the address of a page." };
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[\w.-]+:\d/.test(text) ? text : withScheme(text);
  const url = URL.parse(whole);
  // Browsers write a space in a host as %20, which no host has.
  if (!url || url.hostname === "" || url.hostname.includes("%"))
    return { url: null, problem: `“${text.slice(0, 100)}” is not a URL.` };
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return { url: null, problem: `Only http and https pages can be fetched, not ${url.protocol}` };
  return { url: whole, problem: null };
}

/** The fragment that names the page to extract, and the options for it. */
export const pageHash = (url: string, options: Readonly<Record<string, string>> = {}): string =>
  `#${new URLSearchParams({ url, ...options })}`;

/** The page that the location names, with its options; null without one. */
export function readPageHash(): URLSearchParams | null {
  const fields = new URLSearchParams(location.hash.slice(1));
  return fields.has("url") ? fields : null;
}
