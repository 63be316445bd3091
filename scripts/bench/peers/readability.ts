/** Mozilla's Readability on linkedom, as the bench's contender: JOB SCRATCH. */
import { measurePages, readJob } from "../measure-pages.ts";
import { readBlockText } from "./block-text.ts";
import { loadPeer, type ParseHtml } from "./load.ts";

type ReadabilityResult = {
  readonly title?: string | null;
  readonly byline?: string | null;
  readonly publishedTime?: string | null;
  readonly content?: Node | null;
};
type ReadabilityModule = {
  readonly Readability: new (
    document: Document,
    options: { readonly serializer: (node: Node) => Node },
  ) => { parse(): ReadabilityResult | null };
};

const [, scratch = ""] = process.argv.slice(2);
const { parseHTML } = await loadPeer<{ parseHTML: ParseHtml }>(scratch, "linkedom/esm/index.js");
const { Readability } = await loadPeer<ReadabilityModule>(scratch, "@mozilla/readability/index.js");

await measurePages(readJob(process.argv.slice(2)), {
  extract: async (html) => {
    const { document } = parseHTML(html);
    const result = new Readability(document, { serializer: (node) => node }).parse();
    return {
      text: result?.content ? readBlockText(result.content) : "",
      title: result?.title ?? null,
      author: result?.byline ?? null,
      date: result?.publishedTime ?? null,
    };
  },
  codeOf: (error) => (error instanceof Error ? error.name : null),
});
