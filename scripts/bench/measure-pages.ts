import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { spread, sum } from "./bench.ts";

/** The orders of a contender's process, as JSON in its first argument. */
export type ExtractionJob = {
  /** The directory with `html/ID.html`. */
  readonly pagesDirectory: string;
  /**
   * The pages to measure, `[{id, url}]` as JSON. The bench keeps the set's own list to itself: it holds the
   * reference texts, and reading them cost each contender 110 MB of its peak.
   */
  readonly listPath: string;
  /** The directory for `ID.txt` of each page and `meta.json`. */
  readonly outDirectory: string;
  /** The file for the measurements, as JSON. */
  readonly reportPath: string;
  /** Renderings besides the text that the product makes (`content`, `markdown`); the peers ignore this. */
  readonly renderings: readonly string[];
  /** How often it goes over all pages, at least once. */
  readonly passes: number;
};

/** One extractor's result for one page; an empty text means that it found no content. */
export type PageResult = {
  readonly text: string;
  readonly title: string | null;
  readonly author: string | null;
  readonly date: string | null;
};

export type PageMeasurement = {
  readonly id: string;
  readonly htmlBytes: number;
  /** User and system time of the whole process, including its collector and compiler threads. */
  readonly cpuMs: number;
  readonly wallMs: number;
  /** `ok`, `no_content`, or the code of the failure. */
  readonly outcome: string;
};

export type ExtractionReport = {
  /** Of the first pass, which pays for the start. */
  readonly pages: readonly PageMeasurement[];
  /** The mean CPU time of a page in the last pass, in ms. */
  readonly steadyCpuMs: number;
  readonly peakRssBytes: number;
};

export type Contender = {
  readonly extract: (html: string, url: string) => Promise<PageResult>;
  /** The code of an error that the extractor throws on purpose; null for a bug. */
  readonly codeOf: (error: unknown) => string | null;
  /** What it does after a page, as its worker would; the time counts for that page. */
  readonly afterPage?: (htmlChars: number) => void;
};

type ListedPage = { readonly id: string; readonly url: string };

/** The pages of a set that a run with this limit measures. */
export async function listPages(
  pagesDirectory: string,
  limit: number | null,
): Promise<readonly ListedPage[]> {
  const lines = (await Bun.file(join(pagesDirectory, "pages.jsonl")).text()).split("\n");
  const pages = lines.filter((line) => line !== "").map(readListed);
  return spread(pages, limit ?? pages.length);
}

function readListed(line: string): ListedPage {
  const { id, url } = JSON.parse(line) as ListedPage; // the set's own format, see the top of extraction.ts
  return { id, url };
}

/**
 * Extracts the pages one after another in this process, so that the CPU time between two readings belongs to
 * one page; reading and writing files is not measured. The first pages pay for the compiler's warm-up, as
 * they do in a real run; the last of several passes is what is left in one of hours.
 */
export async function measurePages(job: ExtractionJob, contender: Contender): Promise<void> {
  await mkdir(job.outDirectory, { recursive: true });
  const pages: PageMeasurement[] = [];
  const meta: Record<string, { title: string | null; author: string | null; date: string | null }> = {};
  // The bench itself wrote this, see measureContender.
  const listed = (await Bun.file(job.listPath).json()) as readonly ListedPage[];
  const readPage = async ({ id, url }: ListedPage) => {
    const html = await Bun.file(join(job.pagesDirectory, "html", `${id}.html`)).text();
    return measurePage({ id, url, html }, contender);
  };
  for (const page of listed) {
    const { id } = page;
    const { result, measurement } = await readPage(page);
    pages.push(measurement);
    meta[id] = { title: result?.title ?? null, author: result?.author ?? null, date: result?.date ?? null };
    await Bun.write(join(job.outDirectory, `${id}.txt`), result?.text ?? "");
    if (pages.length % 250 === 0) console.error(`  ${pages.length} pages`);
  }
  await Bun.write(join(job.outDirectory, "meta.json"), JSON.stringify(meta));
  let last: readonly PageMeasurement[] = pages;
  for (let pass = 2; pass <= job.passes; pass++) {
    const again: PageMeasurement[] = [];
    for (const page of listed) again.push((await readPage(page)).measurement);
    last = again;
  }
  const steadyCpuMs = sum(last.map(({ cpuMs }) => cpuMs)) / last.length;
  const report: ExtractionReport = { pages, steadyCpuMs, peakRssBytes: await readPeakRss() };
  await Bun.write(job.reportPath, JSON.stringify(report));
}

async function measurePage(
  page: ListedPage & { readonly html: string },
  { extract, codeOf, afterPage }: Contender,
): Promise<{ readonly result: PageResult | null; readonly measurement: PageMeasurement }> {
  const htmlBytes = Buffer.byteLength(page.html);
  let result: PageResult | null = null;
  let outcome: string;
  const wallStart = performance.now();
  const cpuStart = process.cpuUsage();
  try {
    result = await extract(page.html, page.url);
    outcome = result.text.trim() === "" ? "no_content" : "ok";
  } catch (error) {
    // A bug must not end the run, but the bench reports it and fails.
    outcome = codeOf(error) ?? "bug";
    if (outcome === "bug")
      console.error(`  page ${page.id}: ${error instanceof Error ? error.stack : error}`);
  }
  afterPage?.(page.html.length);
  const cpu = process.cpuUsage(cpuStart);
  const wallMs = performance.now() - wallStart;
  const cpuMs = (cpu.user + cpu.system) / 1000;
  return { result, measurement: { id: page.id, htmlBytes, cpuMs, wallMs, outcome } };
}

// A process's maxRSS starts at its parent's peak (the bench has compiled a binary by then: 280 MB), so on
// Linux the peak of the address space itself counts.
async function readPeakRss(): Promise<number> {
  // Bun.file would not work: /proc reports a size of 0, and Bun believes it.
  const status = await readFile("/proc/self/status", "utf8").catch(() => "");
  const peakKiB = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
  return Number(peakKiB ?? process.resourceUsage().maxRSS) * 1024;
}

/** Reads the job of this contender's process. */
export function readJob(argv: readonly string[]): ExtractionJob {
  // The bench itself wrote this, see runContender.
  return JSON.parse(argv[0] ?? "null") as ExtractionJob;
}
