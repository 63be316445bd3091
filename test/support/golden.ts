import { join } from "node:path";
import { Glob } from "bun";
import { extractHtml } from "../../src/extraction/pool.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { parsePageUrl } from "../../src/urls/index.ts";

/** What a golden page shows in each rendering. */
export type Renderings = { readonly markdown: string; readonly text: string; readonly html: string };

/** One page of the golden corpus: `name` says what it shows. */
export type GoldenCase = { readonly name: string; readonly input: string; readonly expected: Renderings };

export type GoldenFile = {
  readonly topic: string;
  readonly path: string;
  readonly cases: readonly GoldenCase[];
};

const DIRECTORY = join(import.meta.dir, "..", "fixtures", "markdown");
export const GOLDEN_URL = "https://site.test/dir/page";

/** The corpus: `=== name`, the page, then `--- markdown`, `--- text` and `--- html`, for each case. */
export async function readGolden(): Promise<GoldenFile[]> {
  const files: GoldenFile[] = [];
  for (const name of [...new Glob("*.txt").scanSync(DIRECTORY)].sort()) {
    const path = join(DIRECTORY, name);
    const cases = (await Bun.file(path).text()).split(/^=== /m).slice(1).map(parseCase);
    files.push({ topic: name.replace(".txt", ""), path, cases });
  }
  return files;
}

function parseCase(source: string): GoldenCase {
  const at = source.indexOf("\n");
  const [input = "", ...parts] = source.slice(at + 1).split(/^--- (?=(?:markdown|text|html)$)/m);
  const part = (name: string): string => {
    const found = parts.find((text) => text.startsWith(`${name}\n`));
    return found === undefined ? "" : found.slice(name.length + 1).replace(/\n$/, "");
  };
  const expected = { markdown: part("markdown"), text: part("text"), html: part("html") };
  return { name: source.slice(0, at), input: input.replace(/\n$/, ""), expected };
}

export const formatCase = ({ name, input }: GoldenCase, { markdown, text, html }: Renderings): string =>
  `=== ${name}\n${input}\n--- markdown\n${markdown}\n--- text\n${text}\n--- html\n${html}\n`;

export type GoldenOptions = { readonly includeImages?: boolean; readonly includeCode?: boolean };

/** The renderings of a page whose body is the content. */
export async function renderPage(input: string, options: GoldenOptions = {}): Promise<Renderings> {
  const [, head = "", body = ""] = /^(?:<head>(.*?)<\/head>)?(.*)$/s.exec(input) ?? [];
  // Readers of a page without any word get none: the frame says one.
  const page = `<!doctype html><html><head>${head}</head><body><main>${body}<p>End.</p></main></body></html>`;
  const { article } = await extractHtml(page, parsePageUrl(GOLDEN_URL), {
    ...DEFAULT_EXTRACTION,
    select: "main",
    renderings: ["content", "markdown"],
    ...options,
  });
  if (!article) throw new Error("the page holds no words");
  return {
    markdown: (article.markdown ?? "").replace(/\n*End\.(?=\n\n\[\^|$)/, ""),
    text: article.text.replace(/\n*End\.(?=\n\n\[1\]|$)/, ""),
    html: (article.content ?? "").replace(/<p>End\.<\/p>/, ""),
  };
}
