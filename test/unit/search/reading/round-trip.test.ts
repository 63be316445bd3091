import { expect, test } from "bun:test";
import { assert, property } from "fast-check";
import type { TextKind } from "../../../../src/search/reading/kinds.ts";
import {
  documentModel,
  flatMarkdown,
  flatModel,
  type ModelSection,
} from "../../../support/search/document-model.ts";
import { printAsciidoc } from "../../../support/search/print-asciidoc.ts";
import { printMdx } from "../../../support/search/print-mdx.ts";
import { printRst } from "../../../support/search/print-rst.ts";
import { markdownOf } from "../../../support/search/read-text.ts";

const PRINTERS: readonly (readonly [TextKind, (sections: readonly ModelSection[]) => string])[] = [
  ["rst", printRst],
  ["asciidoc", printAsciidoc],
  ["mdx", printMdx],
];

test.each(PRINTERS)(
  "a document in the language %s says the same as Markdown, each part once and without marks",
  (kind, print) => {
    assert(
      property(documentModel, (model) => {
        expect(flatMarkdown(markdownOf(print(model), kind)).join("\n")).toBe(flatModel(model).join("\n"));
      }),
      { numRuns: 200 },
    );
  },
);
