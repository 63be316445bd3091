import type { FailureRecord } from "../../../base/failure.ts";
import { noteMissingBrowser, openCommandApp } from "../../program.ts";
import type { Run } from "../../shell.ts";
import { pageCount } from "../../terminal/notices.ts";
import { readCrawlCommand } from "./crawl.ts";
import { NOTHING_STORED } from "./crawl-report.ts";

/** A crawl fetches what it lists, and stops after a hundred pages; a list may be longer. */
const MAX_ADDRESSES = 10_000;

/** Runs `map`: lists the addresses of a site on stdout, as they are found. */
export const map: Run = async (shell) => {
  const { io, typed, notices } = shell;
  const opened = await openCommandApp({ typed, io, notices });
  await using app = opened.app;
  const place = { directory: process.cwd(), hasPerson: () => io.stdin.isTerminal };
  const { settings } = opened.program;
  const { network, plan, authorizations } = readCrawlCommand(
    typed,
    { ...settings, maxPages: MAX_ADDRESSES },
    place,
  );
  noteMissingBrowser(network, { ...opened, notices });
  await using session = app.openSession(network);
  const leavesOut =
    (what: string) =>
    ({ message }: FailureRecord): void =>
      notices.warn(`${what} left out: ${message}`);
  const options = {
    authorizations,
    onSitemapFailure: leavesOut("a sitemap is"),
    onPageFailure: leavesOut("the links of a page are"),
  };
  let count = 0;
  for await (const page of session.mapSite({ ...plan, discoversSitemaps: true }, options, io.signal)) {
    const { url, title, lastModified, source, refusal } = page;
    if ((refusal !== null) !== typed.has("left-out")) continue;
    if (count === plan.maxPages) {
      notices.warn(`the list ends after ${pageCount(count)}; --max-pages takes more`);
      break;
    }
    count++;
    const line = typed.has("json")
      ? JSON.stringify({ url, title, lastmod: lastModified, source, ...(refusal && { reason: refusal }) })
      : [refusal ?? [], url].flat().join("\t");
    await io.stdout.write(`${line}\n`);
  }
  // That nothing is left out is no failure.
  return count === 0 && !typed.has("left-out") ? NOTHING_STORED : 0;
};
