/**
 * A documentation site in a process of its own, for `sync.ts`: `sync-site.ts PAGES`. It prints its sitemap's
 * address. Then each line of the standard input is a command that it answers with a line of JSON: `change N`
 * changes that many pages, `dates on|off` adds dates to the sitemap, `count` reports and resets the number of
 * requests.
 */
import { DocsSite, htmlPage, proseOf } from "../../test/support/docs-site.ts";

const WORDS_PER_PAGE = 600;
const pages = Number(process.argv[2] ?? 1000);
const site = new DocsSite();
let edition = 0;
let hasDates = false;

function write(index: number): void {
  const path = `/docs/page-${index}`;
  const sections = Array.from({ length: 4 }, (_, part) =>
    proseOf(`${index} ${part} ${edition}`, WORDS_PER_PAGE / 4),
  );
  site.pages.set(path, { body: htmlPage(`Page ${index} of edition ${edition}`, sections.join("\n\n")) });
  if (hasDates) site.lastModified.set(path, new Date(Date.UTC(2026, 0, 1 + edition)).toISOString());
}

for (let index = 0; index < pages; index++) write(index);
console.log(site.sitemap);

for await (const line of console) {
  const [command = "", value = ""] = line.split(" ");
  if (command === "change") {
    edition++;
    for (let index = 0; index < Number(value); index++) write(Math.floor((index * pages) / Number(value)));
  } else if (command === "dates") {
    hasDates = value === "on";
    for (const path of site.pages.keys()) {
      if (hasDates) site.lastModified.set(path, "2026-01-01");
      else site.lastModified.delete(path);
    }
  }
  const statuses: Record<string, number> = {};
  for (const { status } of site.requests) statuses[status] = (statuses[status] ?? 0) + 1;
  console.log(JSON.stringify({ requests: site.requests.length, statuses, bytes: site.sentBytes }));
  site.requests.length = 0;
  site.sentBytes = 0;
}
await site[Symbol.asyncDispose]();
