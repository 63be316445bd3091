/** Runs Defuddle on linkedom as a contender: JOB SCRATCH. */
import { measurePages, readJob } from "../measure-pages.ts";
import { loadPeer, type ParseHtml, readBlockText } from "./block-text.ts";

type DefuddleResult = {
  readonly content: string;
  readonly title: string;
  readonly author: string;
  readonly published: string;
};
type DefuddleModule = {
  readonly Defuddle: (
    input: Document,
    url: string,
    options: { readonly useAsync: boolean },
  ) => Promise<DefuddleResult>;
};

const [, scratch = ""] = process.argv.slice(2);
const { parseHTML } = await loadPeer<{ parseHTML: ParseHtml }>(scratch, "linkedom/esm/index.js");
const { Defuddle } = await loadPeer<DefuddleModule>(scratch, "defuddle/dist/node.js");

await measurePages(readJob(process.argv.slice(2)), {
  extract: async (html, url) => {
    // Asynchronous extractors would ask other hosts for what the page lacks.
    const result = await Defuddle(parseHTML(html).document, url, { useAsync: false });
    const content = parseHTML(`<html><body>${result.content}</body></html>`).document;
    return {
      text: readBlockText(content.body),
      title: result.title || null,
      author: result.author || null,
      date: result.published || null,
    };
  },
  codeOf: (error) => (error instanceof Error ? error.name : null),
});
