/** Runs Mozilla's Readability on linkedom as a contender: JOB SCRATCH. */
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { measurePages, readJob } from "../measure-pages.ts";
import { readBlockText } from "./block-text.ts";

await measurePages(readJob(process.argv.slice(2)), {
  extract: async (html) => {
    // linkedom's declarations describe its own classes, which implement the parts of the DOM used here.
    const document = parseHTML(html).document as unknown as Document;
    const result = new Readability<Node>(document, { serializer: (node) => node }).parse();
    return {
      text: result?.content ? readBlockText(result.content) : "",
      title: result?.title ?? null,
      author: result?.byline ?? null,
      date: result?.publishedTime ?? null,
    };
  },
  codeOf: (error) => (error instanceof Error ? error.name : null),
});
