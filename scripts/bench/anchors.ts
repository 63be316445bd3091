/**
 * Checks that the anchors of search results exist in their pages, over sets of documentation that real generators have
 * rendered:
 *
 *   bun scripts/bench/anchors.ts DIR [--results N]
 *
 * DIR has a folder for each set, with its pages as `NAME.html`. Where `NAME.md` stands beside a page, the Markdown is
 * indexed, and the page tells which ids exist. A configuration file of the generator beside them counts. Queries are
 * the headings of the documents.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { composeDocument } from "../../src/extraction/index.ts";
import { extractHtml } from "../../src/extraction/pool.ts";
import { Analyser } from "../../src/search/analysis/analyser.ts";
import { buildSegment } from "../../src/search/builder/build-segment.ts";
import { DocumentAnalyser } from "../../src/search/document/analyse.ts";
import {
  SearchIndex,
  type SlugStyle,
  type SourceDocument,
  slugStyleOfFolder,
} from "../../src/search/index.ts";
import { DEFAULT_EXTRACTION, DEFAULT_SEARCH } from "../../src/settings/index.ts";
import { docsUrl } from "../../src/urls/index.ts";
import { parseCount } from "./options.ts";

const EXTRACTION = { ...DEFAULT_EXTRACTION, renderings: ["markdown", "anchors"] as const };
const SEARCH = { size: 10, wordMatch: false, explain: false, deadline: Number.POSITIVE_INFINITY };

const { values, positionals } = parseArgs({
  options: { results: { type: "string" } },
  allowPositionals: true,
});
const [root] = positionals;
if (root === undefined) throw new Error("usage: bun scripts/bench/anchors.ts DIR [--results N]");
const most = parseCount("--results", values.results) ?? 200;

type Rendered = { readonly source: SourceDocument; readonly html: string };

async function readSet(folder: string): Promise<readonly Rendered[]> {
  const names = await readdir(folder);
  const pages: Rendered[] = [];
  for (const name of names.filter((one) => one.endsWith(".html")).sort()) {
    const html = await Bun.file(join(folder, name)).text();
    const markdown = name.replace(/\.html$/, ".md");
    const url = docsUrl("set", name);
    if (names.includes(markdown)) {
      const text = await Bun.file(join(folder, markdown)).text();
      pages.push({ html, source: { url, title: name, markdown: text } });
      continue;
    }
    const { article } = await extractHtml(html, null, EXTRACTION);
    if (article) pages.push({ html, source: { url, ...composeDocument(article) } });
  }
  return pages;
}

async function openIndex(
  path: string,
  pages: readonly Rendered[],
  slugStyle: SlugStyle | undefined,
): Promise<SearchIndex> {
  const analyser = new Analyser("default");
  const documents = new DocumentAnalyser(analyser);
  const sources = pages.map(({ source }) => source);
  const { fingerprint } = analyser;
  const analysis = {
    fingerprint,
    vocabulary: analyser,
    analyse: (source: SourceDocument) => documents.analyse(source),
  };
  await buildSegment(sources, { path, analysis, slugStyle, previous: null, memoryBytes: 1 << 28 });
  return SearchIndex.open(path, DEFAULT_SEARCH);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const hasId = (html: string, id: string): boolean =>
  new RegExp(`\\s(?:id|name)\\s*=\\s*["']?${escaped(id)}["'\\s>]`).test(html);

const scratch = await mkdtemp(join(tmpdir(), "bench-anchors-"));
try {
  for (const set of (await readdir(root)).sort()) {
    const pages = await readSet(join(root, set));
    using index = await openIndex(join(scratch, set), pages, await slugStyleOfFolder(join(root, set)));
    const htmlOf = new Map(pages.map(({ source, html }) => [source.url, html]));
    const headings = pages.flatMap(({ source }) => source.markdown.match(/^#{1,6} .+$/gm) ?? []);
    const counts = { results: 0, anchored: 0, exist: 0 };
    const missing: string[] = [];
    for (const heading of headings) {
      for (const { url, anchor } of index.search(heading.replace(/^#+ /, ""), SEARCH)) {
        if (counts.results++ >= most) break;
        if (anchor === null) continue;
        counts.anchored++;
        if (hasId(htmlOf.get(url) ?? "", anchor)) counts.exist++;
        else missing.push(`${url}#${anchor}`);
      }
      if (counts.results >= most) break;
    }
    const { results, anchored, exist } = counts;
    console.log(
      `${set}: ${pages.length} pages, ${Math.min(results, most)} results, ${anchored} with an anchor, ${exist} of these exist`,
    );
    for (const one of missing.slice(0, 5)) console.log(`  missing: ${one}`);
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
