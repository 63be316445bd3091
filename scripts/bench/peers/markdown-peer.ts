/**
 * Another program's Markdown, page by page: PEER SCRATCH. It reads a JSON line {path, url, out} for each
 * page, writes the Markdown to `out` and answers with a line: `ok`, or the name of what the program threw.
 */
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { NodeHtmlMarkdown } from "node-html-markdown";
import { composeMarkdown } from "../../../src/extraction/index.ts";
import { loadPeer, type ParseHtml } from "./block-text.ts";

type Request = { readonly path: string; readonly url: string; readonly out: string };
type Writer = (html: string, url: string) => Promise<string>;

type DefuddleModule = {
  readonly Defuddle: (
    input: Document,
    url: string,
    options: { readonly useAsync: boolean; readonly markdown: boolean },
  ) => Promise<{ readonly content: string; readonly title: string }>;
};

async function defuddle(scratch: string): Promise<Writer> {
  const { parseHTML: parse } = await loadPeer<{ parseHTML: ParseHtml }>(scratch, "linkedom/esm/index.js");
  const { Defuddle } = await loadPeer<DefuddleModule>(scratch, "defuddle/dist/node.js");
  return async (html, url) => {
    const result = await Defuddle(parse(html).document, url, { useAsync: false, markdown: true });
    return composeMarkdown(result.title || null, result.content);
  };
}

function readability(): Writer {
  const translator = new NodeHtmlMarkdown({ bulletMarker: "-", useInlineLinks: false });
  return async (html) => {
    const { document } = parseHTML(html);
    // linkedom's types describe the same DOM.
    const result = new Readability(document as unknown as Document).parse();
    return composeMarkdown(
      result?.title || null,
      result?.content ? translator.translate(result.content) : "",
    );
  };
}

const [peer, scratch = ""] = process.argv.slice(2);
const write = peer === "defuddle" ? await defuddle(scratch) : readability();
for await (const line of console) {
  const { path, url, out } = JSON.parse(line) as Request; // the bench itself wrote it
  let outcome = "ok";
  try {
    await Bun.write(out, await write(await Bun.file(path).text(), url));
  } catch (error) {
    // A peer's bug counts as an empty page.
    await Bun.write(out, "");
    outcome = error instanceof Error ? error.name : "error";
  }
  process.stdout.write(`${outcome}\n`);
}
