/**
 * One subject of the fetch bench in a process of its own.
 * Arguments: SUBJECT (`ours`, `undici.fetch`, `undici.request`) URL LENGTH REQUESTS CONCURRENCY.
 */
import { fetch as undiciFetch, request as undiciRequest } from "undici";
import { createHttpFetcher } from "../../src/fetching/index.ts";
import { parsePageUrl } from "../../src/urls/index.ts";
import { runLoad } from "./fetch-load.ts";
import { benchFetching } from "./fetching-parts.ts";

const [subject = "", url = "", length = "", requests = "", concurrency = ""] = process.argv.slice(2);

function subjectFetch(): () => Promise<number> {
  if (subject === "undici.fetch") return async () => (await (await undiciFetch(url)).text()).length;
  if (subject === "undici.request") return async () => (await (await undiciRequest(url)).body.text()).length;
  const fetcher = createHttpFetcher(benchFetching());
  const page = parsePageUrl(url);
  if (!page) throw new Error(`not a page's URL: ${url}`);
  // One signal serves the whole run, as in a crawl; fetches that held on to it would show up in memory.
  const { signal } = new AbortController();
  return async () => (await fetcher.fetch(page, { signal })).html.length;
}

const result = await runLoad({
  subject,
  runtime: process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.versions.node}`,
  requests: Number(requests),
  concurrency: Number(concurrency),
  expectedLength: Number(length),
  fetchOnce: subjectFetch(),
});
console.log(JSON.stringify(result));
process.exit(0); // undici's kept connections would keep the process alive
