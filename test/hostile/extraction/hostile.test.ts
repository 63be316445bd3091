import { describe, expect, test } from "bun:test";
import { parseHTML } from "linkedom";
import { EXTRACTION } from "../../../src/options/index.ts";
import { articleOf } from "../../support/extraction.ts";
import { framed } from "../../support/framed.ts";
import { addressFaults, dangersIn, readVectors } from "../../support/hostile.ts";
import { RENDERERS } from "../../support/round-trip.ts";

// The elements that the type's documentation calls sanitised, with their attributes, and no others.
const ALLOWED: Readonly<Record<string, string>> = {
  a: "href title class",
  abbr: "title",
  blockquote: "cite class",
  code: "class",
  details: "open",
  dfn: "title",
  img: "src alt title width height",
  li: "class id",
  ol: "start",
  p: "class",
  pre: "data-label",
  section: "class",
  td: "colspan rowspan align",
  th: "colspan rowspan align",
  time: "datetime",
};
const BARE = new Set(
  `h1 h2 h3 h4 h5 h6 ul dl dt dd br hr table caption thead tbody tr figure figcaption summary ruby rt rp span em
   strong del ins u mark small sub sup kbd samp var cite q bdi bdo`.split(/\s+/),
);
const VALUES: Readonly<Record<string, RegExp>> = {
  class:
    /^(?:language-[\w+#.-]{1,30}(?: math-(?:inline|display))?|admonition (?:note|tip|important|warning|caution)|admonition-title|footnotes?|footnote-ref|task-list-item)$/,
  id: /^fn-\d{1,4}$/,
  lang: /^[\w-]+$/,
  dir: /^(?:ltr|rtl|auto)$/,
};

function faultsOf(html: string): string[] {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  const faults: string[] = [];
  for (const element of document.querySelectorAll("body *")) {
    const name = element.localName;
    if (!BARE.has(name) && !(name in ALLOWED)) faults.push(name);
    for (const { name: key, value } of element.attributes) {
      const isKnown = key === "lang" || key === "dir" || (ALLOWED[name] ?? "").split(" ").includes(key);
      if (!isKnown || VALUES[key]?.test(value) === false) faults.push(`${name}[${key}=${value}]`);
      faults.push(...addressFaults(key, value));
    }
  }
  return faults;
}

const vectors = await readVectors();

test("there are at least 150 hostile pieces", () => {
  expect(new Set(vectors).size).toBeGreaterThanOrEqual(150);
});

describe("a hostile piece leaves nothing that runs:", () => {
  for (const vector of vectors) {
    test(vector, async () => {
      // Inside an article: some pieces swallow all that follows, and what is left must be enough for one.
      const page = framed(vector, "");
      const ways = EXTRACTION.engine.kind.words.flatMap((engine) =>
        [null, "body"].map((select) => ({ engine, select })),
      );
      for (const way of ways) {
        const { content, markdown } = await articleOf(page, way);
        expect(faultsOf(content ?? "")).toEqual([]);
        expect(content).not.toContain("<!--");
        for (const render of Object.values(RENDERERS)) expect(dangersIn(render(markdown ?? ""))).toEqual([]);
      }
    });
  }
});
