import { join } from "node:path";

/** What a site of many hosts has; see site-entry.ts. */
export type SiteOptions = {
  /** 127.0.0.1 … 127.0.0.hosts */
  readonly hosts: number;
  readonly pagesPerHost: number;
  /** How long each page takes. */
  readonly answerMs: number;
  /** Of the pages without children every so-manieth answers 404; 0: none. */
  readonly missing: number;
  /** The text of a page, about. */
  readonly bytes: number;
  /** Each page links to one below /private/, which robots.txt disallows. */
  readonly hasPrivate?: boolean;
};

/** How a site answers: at once, in drips, with bodies that break off, or with 503. */
export type Mood = "well" | "slow" | "broken" | "unavailable";

/** A request as the site saw it; `at` in ms since 1970, counted by a monotonic clock. */
export type Visit = {
  readonly at: number;
  readonly host: string;
  /** With the port. */
  readonly authority: string;
  readonly path: string;
};

export type ManyHosts = Awaited<ReturnType<typeof serveManyHosts>>;

/** Starts a site of many hosts on loopback in a process of its own. */
export async function serveManyHosts(options: SiteOptions) {
  const entry = join(import.meta.dir, "site-entry.ts");
  const child = Bun.spawn([process.execPath, entry, JSON.stringify(options)], { stdout: "pipe" });
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const port = Number((await reader.read()).value);
  reader.releaseLock();
  const origins = Array.from({ length: options.hosts }, (_, index) => `http://127.0.0.${index + 1}:${port}`);
  const ask = async (path: string): Promise<unknown> => (await fetch(`${origins[0]}/-/${path}`)).json();
  const pathOf = (number: number): string => (number === 0 ? "/" : `/p/${number}`);
  return {
    /** Of 127.0.0.1, whose first page links to all hosts. */
    origin: origins[0] ?? "",
    origins,
    /** Every URL of the site. */
    urls: origins.flatMap((origin) =>
      Array.from({ length: options.pagesPerHost }, (_, number) => origin + pathOf(number)),
    ),
    pid: child.pid,
    /** All requests so far, those for robots.txt too. */
    visits: () => ask("visits") as Promise<readonly Visit[]>,
    /** How many requests there were so far. */
    count: () => ask("count") as Promise<number>,
    /** How it answers from now on. */
    setMood: (mood: Mood) => ask(`mood/${mood}`),
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

/** The pages that were asked for more than once, with the number of requests beyond the first. */
export function repeatedVisits(visits: readonly Visit[]): number {
  const pages = visits.filter(({ path }) => path !== "/robots.txt");
  return pages.length - new Set(pages.map(({ host, path }) => host + path)).size;
}
