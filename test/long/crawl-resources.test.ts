import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readCrawl } from "../support/crawl-run.ts";
import { serveLocal } from "../support/local.ts";
import { crawlPage } from "../support/numbered-site.ts";
import { start } from "../support/scale/crawl.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const PAGES = 20_000;
const FAN_OUT = 10;
/** Pages from here on link to nothing, so a fault among them takes no other page from the crawl. */
const FIRST_LEAF = PAGES / FAN_OUT;

const HTML = { "content-type": "text/html; charset=utf-8" };
const LONG = crawlPage("Long", [], 90_000);

const compressed = (bytes: Uint8Array<ArrayBuffer>): Response =>
  new Response(bytes, { headers: { ...HTML, "content-encoding": "gzip" } });

/** The leaves that are not plain pages, by their number modulo 1000. */
const UNUSUAL: Readonly<Record<number, (n: number, tries: number) => Response | Promise<Response>>> = {
  7: () => new Response("Not found", { status: 404 }),
  107: (n, tries) => (tries === 1 ? new Response("Try again", { status: 500 }) : plain(n)),
  207: (n) => new Response(null, { status: 302, headers: { location: `/moved/${n}` } }),
  307: (n) => compressed(Bun.gzipSync(crawlPage(`Page ${n}`))),
  407: () => new Response(LONG, { headers: HTML }),
  507: async (n) => {
    await Bun.sleep(1000);
    return plain(n);
  },
  607: (n) => compressed(Bun.gzipSync(crawlPage(`Page ${n}`)).slice(0, 60)),
};
const LEAVES_OF_A_KIND = (PAGES - FIRST_LEAF) / 1000;

function plain(n: number): Response {
  const children = Array.from({ length: FAN_OUT }, (_, index) => n * FAN_OUT + 1 + index);
  const links = children.filter((child) => child < PAGES).map((child) => `/p/${child}`);
  return new Response(crawlPage(`Page ${n}`, links), { headers: HTML });
}

function serveSite() {
  const asked = new Map<string, number>();
  const server = serveLocal(async (request) => {
    const { pathname } = new URL(request.url);
    const tries = (asked.get(pathname) ?? 0) + 1;
    asked.set(pathname, tries);
    const [, kind, number] = /^\/(p|moved)\/(\d+)$/.exec(pathname) ?? [];
    if (pathname === "/") return plain(0);
    if (kind === undefined) return new Response(null, { status: 404 });
    const n = Number(number);
    const unusual = kind === "p" && n >= FIRST_LEAF ? UNUSUAL[n % 1000] : undefined;
    return unusual ? await unusual(n, tries) : plain(n);
  });
  return { origin: server.url.origin, tries: asked, [Symbol.asyncDispose]: () => server.stop(true) };
}

type Sample = {
  /** Share of the site's pages that were asked for, 0..1. */
  readonly share: number;
  readonly rssMb: number;
  readonly descriptors: number;
  readonly temporaryFiles: number;
};

/** Null when the process has ended. */
function sampleOf(pid: number, scratch: string, share: number): Sample | null {
  try {
    return {
      share,
      rssMb: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      temporaryFiles: readdirSync(scratch, { recursive: true }).length,
    };
  } catch {
    return null;
  }
}

/** By how much a resource may grow while 70 % of the pages are read. */
const ALLOWED = {
  // 6 KB for each of these pages.
  rssMb: 80,
  // Each page under way has one.
  descriptors: 8,
  temporaryFiles: 4,
};

/** The median of a resource while the crawl went through a part of the site; NaN without samples. */
function medianIn(samples: readonly Sample[], resource: keyof Sample, from: number, to: number): number {
  const sorted = samples
    .filter(({ share }) => share >= from && share < to)
    .map((sample) => sample[resource])
    .sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

test.skipIf(process.platform !== "linux")(
  `memory, descriptors and temporary files of a crawl of ${PAGES} pages stay flat`,
  async () => {
    await using site = serveSite();
    using place = temporaryDirectory();
    const scratch = join(place.path, "tmp");
    const output = join(place.path, "out");
    mkdirSync(scratch);
    const options = "--rate-limit 0 --max-pages 30000 --max-depth 10 --max-failures 1% --prefer-http";
    await using crawl = start(["crawl", `${site.origin}/`, "--output-dir", output, ...options.split(" ")], {
      TMPDIR: scratch,
      ARTICLE_EXTRACTOR_EGRESS: "open",
    });
    const samples: Sample[] = [];
    while (!crawl.hasEnded()) {
      const sample = sampleOf(crawl.pid, scratch, site.tries.size / PAGES);
      if (sample) samples.push(sample);
      await Bun.sleep(100);
    }
    expect({ exitCode: await crawl.exited, said: crawl.stderr().slice(-2000) }).toMatchObject({
      exitCode: 0,
    });

    // The crawl went through all of it: every page, each kind of fault, and the second try of what failed once.
    const { manifest } = await readCrawl(output);
    const failed = manifest?.results.filter(({ status }) => status === "failed") ?? [];
    expect([manifest?.results.length, failed.length]).toEqual([PAGES, 2 * LEAVES_OF_A_KIND]);
    expect(site.tries.get(`/p/${FIRST_LEAF + 107}`)).toBe(2);

    const growth = (["rssMb", "descriptors", "temporaryFiles"] as const).map((resource) => {
      const [early, late] = [medianIn(samples, resource, 0.2, 0.3), medianIn(samples, resource, 0.9, 1)];
      return { resource, early, late, isAllowed: late - early < ALLOWED[resource] };
    });
    expect(growth.filter(({ isAllowed }) => !isAllowed)).toEqual([]);
  },
  240_000,
);
