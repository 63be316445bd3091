import { request, requestJson } from "../http.ts";

/** The fields of `POST /`'s answer that are shown by name; the JSON view shows all of them. */
export type Article = {
  readonly url: string | null;
  readonly final_url: string | null;
  readonly canonical_url: string | null;
  readonly status_code: number | null;
  readonly fetcher: string;
  readonly title: string | null;
  readonly byline: string | null;
  readonly siteName: string | null;
  readonly published_date: string | null;
  readonly modified_date: string | null;
  readonly lang: string | null;
  readonly dir: "ltr" | "rtl" | null;
  readonly excerpt: string | null;
  readonly image: string | null;
  readonly page_type: string | null;
  readonly confidence: number | null;
  readonly sources: Readonly<Record<string, string | null>>;
  readonly markdown: string | null;
  readonly word_count: number;
  readonly length: number;
  readonly warnings: readonly string[] | null;
};

export type ExtractionBody = {
  readonly url: string;
  readonly prefer_browser?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
};

export const extractArticle = (body: ExtractionBody, signal: AbortSignal): Promise<Article> =>
  requestJson("./", { method: "POST", body, signal });

export type Job = {
  readonly job_id: string;
  readonly status: "queued" | "running" | "completed" | "failed";
  readonly progress: number;
  readonly total: number;
  readonly successful: number;
  readonly failed: number;
  readonly skipped: number;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly cancel_requested: boolean;
  readonly output_dir: string;
  readonly seeds: readonly string[];
  readonly sitemaps: readonly string[];
  readonly error: { readonly code: string; readonly message: string } | null;
};

/** A page of a crawl as the manifest describes it. */
export type CrawledPage = {
  readonly url: string;
  readonly status: "success" | "failed" | "skipped";
  readonly title: string | null;
  readonly word_count: number | null;
  readonly http_status: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly reason: string | null;
};

export type Notice = {
  readonly notice: string;
  readonly host?: string;
  readonly sitemap?: string;
  readonly directory?: string;
  readonly failure?: { readonly message?: string };
};

export const isOver = ({ status }: Job): boolean => status === "completed" || status === "failed";

const jobPath = (id: string): string => `crawl/${encodeURIComponent(id)}`;

export const listJobs = (
  signal?: AbortSignal,
): Promise<{ readonly jobs: readonly Job[]; readonly queued: number; readonly running: number }> =>
  requestJson("crawl", { signal });

export const readJob = (id: string, signal: AbortSignal): Promise<Job> =>
  requestJson(jobPath(id), { signal });

export const submitCrawl = (body: object): Promise<{ readonly job_id: string }> =>
  requestJson("crawl", { method: "POST", body });

export const cancelJob = (id: string): Promise<Job> => requestJson(jobPath(id), { method: "DELETE" });

export const readManifest = async (id: string, signal?: AbortSignal): Promise<string> =>
  (await request(`${jobPath(id)}/manifest`, { signal })).text();

export const eventsPath = (id: string): string => `${jobPath(id)}/events`;
