/**
 * Follows citations from a whole site to the answer: crawls folders of HTML over loopback with the built program, indexes
 * what the crawl has stored, searches for headings, and looks up the address of each hit in its page.
 *
 *   make bench-fragments [PACKAGES=postgresql-doc-15,linux-doc-6.1] [FOLDER=DIR] [RESULTS=200]
 *   sh scripts/bun scripts/bench/fragments.ts [--packages NAMES] [--folder DIR] [--binary PATH] [--results N]
 *
 * Packages are Debian's; where they are not installed, `apt-get download` gets them into a temporary folder. The queries
 * are headings of the stored pages, spread evenly over the site, and their first hits are looked at. It also counts the
 * fragments at whose place the page has a heading of the hit. Exits 1 when a fragment is no id or name in its page.
 */
import { existsSync, readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, normalize, resolve } from "node:path";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { introduce, PROGRAM, readOptions, spread } from "./bench.ts";

const options = readOptions({
  packages: "postgresql-doc-15,linux-doc-6.1",
  folder: "",
  binary: PROGRAM,
  results: 200,
});
const program = resolve(options.binary);
const wanted = options.results;
using directory = temporaryDirectory();
const { path: scratch } = directory;

type Hit = {
  readonly url: string;
  readonly anchor: string | null;
  readonly headings: readonly string[];
};

/** Runs the built program without the settings of whoever measures; returns what it printed. */
async function run(...words: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? "", HOME: scratch };
  const child = Bun.spawn({ cmd: [program, ...words], env, stdout: "pipe", stderr: "pipe", stdin: "ignore" });
  const [printed, said] = await Promise.all(
    [child.stdout, child.stderr].map((stream) => new Response(stream).text()),
  );
  // A crawl ends with 3 when some pages are no articles.
  if (![0, 3].includes(await child.exited)) throw new Error(`${words.join(" ")}: ${said || printed}`);
  return printed ?? "";
}

/** The folder with the pages of an installed or downloaded package; null when apt has none. */
async function folderOf(name: string): Promise<string | null> {
  const installed = `/usr/share/doc/${name}/html`;
  if (existsSync(installed)) return installed;
  const root = join(scratch, name);
  const shell = (...argv: string[]) => Bun.$`${argv}`.cwd(scratch).quiet().nothrow();
  if ((await shell("apt-get", "download", name)).exitCode !== 0) return null;
  const file = readdirSync(scratch).find((one) => one.startsWith(`${name}_`) && one.endsWith(".deb"));
  if (file === undefined || (await shell("dpkg", "-x", file, root)).exitCode !== 0) return null;
  return join(root, installed);
}

const serveFolder = (folder: string) =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const path = normalize(decodeURIComponent(new URL(request.url).pathname));
      const file = Bun.file(join(folder, path.endsWith("/") ? `${path}index.html` : path));
      return file.size > 0 ? new Response(file) : new Response("not found", { status: 404 });
    },
  });

/** Headings of stored pages, spread evenly over them. */
async function queriesOf(pages: string): Promise<readonly string[]> {
  const headings: string[] = [];
  for (const name of (await readdir(pages)).filter((one) => one.endsWith(".md")).sort())
    for (const [, text = ""] of (await Bun.file(join(pages, name)).text()).matchAll(/^#{1,4} (.{5,80})$/gm))
      headings.push(text.replace(/[^\p{L}\p{N}_ -]/gu, ""));
  // Every second one first; the others are for those that find nothing.
  const chosen = spread(headings, wanted * 2);
  return [0, 1].flatMap((rest) => chosen.filter((_, at) => at % 2 === rest));
}

const lettersOf = (html: string): string =>
  html.replace(/<[^<>]*>|&#?\w+;/g, "").replace(/[^\p{L}\p{N}]/gu, "");

/** The first text of a page after the element with an id or name; null when there is none. */
function textAt(html: string, id: string): string | null {
  const written = [id, id.replaceAll("&", "&amp;")].map(RegExp.escape).join("|");
  const place = new RegExp(`\\s(?:id|name)\\s*=\\s*(["']?)(?:${written})\\1[\\s/>]`).exec(html);
  if (!place) return null;
  const text = html.slice(html.indexOf(">", place.index) + 1, place.index + 20_000);
  return lettersOf(text).slice(0, 1000);
}

type Counts = { hits: number; cited: number; exist: number; there: number };

async function follow(name: string, folder: string): Promise<boolean> {
  using site = serveFolder(folder);
  const pages = join(scratch, `${name}-pages`);
  const start = performance.now();
  const paced = ["--rate-limit", "0", "--no-browser", "--max-pages", "1000000", "--max-depth", "100"];
  await run("crawl", `${site.url}index.html`, "--output-dir", pages, ...paced, "--quiet");
  const crawled = performance.now();
  await run("index", "--dir", pages, "--quiet");
  const counts: Counts = { hits: 0, cited: 0, exist: 0, there: 0 };
  const wrong: string[] = [];
  const uncited: string[] = [];
  for (const query of await queriesOf(pages)) {
    if (counts.hits >= wanted) break;
    const { results }: { results: readonly Hit[] } = JSON.parse(
      await run("search", "--dir", pages, "--json", "--size", "1", "--", query),
    );
    for (const { url, anchor, headings } of results) {
      counts.hits++;
      if (anchor === null) {
        uncited.push(`${url} (${headings.join(" › ")})`);
        continue;
      }
      counts.cited++;
      const text = textAt(await (await fetch(url)).text(), decodeURIComponent(anchor));
      if (text !== null) counts.exist++;
      const isThere = headings.some((heading) => text?.includes(lettersOf(heading)));
      if (isThere) counts.there++;
      else wrong.push(`${url}#${anchor} (${headings.join(" › ")})`);
    }
  }
  const stored = (await readdir(pages)).filter((one) => one.endsWith(".md")).length;
  const seconds = ((crawled - start) / 1000).toFixed(1);
  console.log(
    `${name}: ${stored} pages crawled in ${seconds} s; ${counts.hits} hits, ${counts.cited} with a fragment, ` +
      `${counts.exist} of these exist, ${counts.there} at the heading`,
  );
  for (const one of wrong.slice(0, 10)) console.log(`  not there: ${one}`);
  for (const one of uncited.slice(0, 10)) console.log(`  no fragment: ${one}`);
  return counts.hits > 0 && counts.exist === counts.cited;
}

await introduce(`${wanted} hits of each site`);
for (const site of options.folder ? [options.folder] : options.packages.split(",")) {
  const folder = options.folder || (await folderOf(site));
  if (folder === null) console.log(`${site}: not installed, and apt-get cannot download it`);
  else if (!(await follow(site.replace(/\W+/g, "-"), resolve(folder)))) process.exitCode = 1;
}
