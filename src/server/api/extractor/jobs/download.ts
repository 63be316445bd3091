import { makeZip } from "client-zip";
import { isRecord, parseJson } from "../../../../base/json.ts";
import type { JobRecord, ManifestEntry } from "../../../../crawler/index.ts";
import { picturePathsIn } from "../../../../pages/index.ts";
import { ProblemError } from "../../../middleware/problem.ts";
import { streamAnswer, streamOf } from "../../../middleware/unread.ts";
import { pagesOf } from "./outcomes.ts";
import type { CrawlPlaces } from "./places.ts";
import { isBatch } from "./spec.ts";

export const DOWNLOAD_FORMATS = ["zip", "jsonl", "llms.txt"] as const;
type DownloadFormat = (typeof DOWNLOAD_FORMATS)[number];

const TYPES: Readonly<Record<DownloadFormat, string>> = {
  zip: "application/zip",
  jsonl: "application/jsonl",
  "llms.txt": "text/plain; charset=utf-8",
};

/** The number of unread bytes that a download counts as, which limits simultaneous downloads. */
const DOWNLOAD_BYTES = 16 * 1024 * 1024;

/**
 * Answers with all extracted pages of a job that has ended, in one file. Pages are read one after another while the
 * file is sent, so its size costs no memory. A page whose file is gone is left out.
 * @throws ProblemError as `pagesOf`, for the first page, and 404 when no page is left; what is wrong further down
 * ends the answer before its end
 */
export async function downloadResponse(
  format: DownloadFormat,
  job: JobRecord,
  places: CrawlPlaces,
): Promise<Response> {
  const pages = pagesOf(places, job);
  const entries = extracted(pages);
  const read = (path: string) => places.page(job, path);
  const lines = () => (isBatch(job) ? resultLines(pages, read) : jsonLines(entries, read));
  const texts = format === "jsonl" ? lines() : llmsText(entries, job);
  const body =
    format === "zip"
      ? makeZip(await begun(zipped(entries, read), job))
      : streamOf(await begun(encoded(texts), job));
  const name = format === "llms.txt" ? format : `crawl-${job.id.replace(/[^\w-]/g, "")}.${format}`;
  const headers = { "content-type": TYPES[format], "content-disposition": `attachment; filename="${name}"` };
  return streamAnswer(body, headers, DOWNLOAD_BYTES);
}

type Entry = ManifestEntry & { readonly file_path: string };
type Read = (path: string) => Promise<ReadableStream<Uint8Array> | null>;

async function begun<T>(rest: AsyncGenerator<T, void>, { id, counts }: JobRecord) {
  const first = await rest.next();
  const detail = `none of the ${counts.successful} pages of the job ${id} is where its manifest says`;
  if (first.done && counts.successful > 0) throw new ProblemError(404, "pages_gone", detail);
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* rest;
  })();
}

async function* extracted(pages: AsyncIterable<ManifestEntry>): AsyncGenerator<Entry, void> {
  for await (const page of pages)
    if (page.status === "success" && page.file_path !== null && isSafe(page.file_path))
      yield { ...page, file_path: page.file_path };
}

/** A manifest may have been changed: no name in an archive leads out of the folder that it is unpacked into. */
export const isSafe = (path: string): boolean =>
  !/^\/|^[a-z]:|[\\\0]/i.test(path) && path.split("/").every((part) => !["", ".", ".."].includes(part));

async function* zipped(entries: AsyncIterable<Entry>, read: Read) {
  // Two pages never have one file, but one page may be in the manifest under two addresses.
  const names = new Set<string>();
  for await (const { file_path: page } of entries) {
    const paths = [page];
    for (const name of paths) {
      if (names.has(name)) continue;
      names.add(name);
      const file = await read(name);
      if (!file) continue;
      const input = name === page ? await new Response(file).bytes() : file;
      if (input instanceof Uint8Array) paths.push(...picturePathsIn(input));
      // Of no date, so that the same pages make the same file.
      yield { name, input, lastModified: new Date(1980, 0, 1) };
    }
  }
}

async function* jsonLines(entries: AsyncIterable<Entry>, read: Read): AsyncGenerator<string, void> {
  for await (const { url, title, word_count, content_hash, file_path } of entries) {
    const file = await read(file_path);
    if (!file) continue;
    const text = await new Response(file).text();
    const markdown = text.startsWith("---\n") ? text.slice(text.indexOf("\n---\n") + 5).trimStart() : text;
    yield `${JSON.stringify({ url, title, word_count, content_hash, file_path, markdown })}\n`;
  }
}

/** Where the fields of a batch's article stand. */
export const articlePath = (filePath: string): string => `${filePath.replace(/\.md$/, "")}.json`;

/** A line for each URL of a batch: with the wanted fields of its article, or with the error. */
async function* resultLines(pages: AsyncIterable<ManifestEntry>, read: Read): AsyncGenerator<string, void> {
  for await (const { url, file_path: path, error, reason } of pages) {
    const file = path !== null && isSafe(path) ? await read(articlePath(path)) : null;
    const fields = file && parseJson(await new Response(file).text());
    const code = reason ?? "page_gone";
    const message = reason === null ? "the article is gone" : "the page was skipped";
    const result = isRecord(fields) ? fields : { error: error ?? { code, message } };
    yield `${JSON.stringify({ url, ...result })}\n`;
  }
}

/** The list of pages in the form of llmstxt.org: a title, and a link with its title for each page. */
async function* llmsText(entries: AsyncIterable<Entry>, job: JobRecord): AsyncGenerator<string, void> {
  let isFirst = true;
  for await (const { url, title, word_count } of entries) {
    if (isFirst) yield `# ${URL.parse(url)?.host ?? job.id}\n\n## Pages\n\n`;
    isFirst = false;
    const name = (title ?? url).replace(/\s+/g, " ").replace(/[[\]\\]/g, "\\$&");
    yield `- [${name}](${url.replace(/[()]/g, encodeURIComponent)}): ${word_count ?? 0} words\n`;
  }
  if (isFirst && job.counts.successful === 0) yield "# No pages\n";
}

export async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}
