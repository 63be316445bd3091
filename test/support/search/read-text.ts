import type { SourceDocument } from "../../../src/search/index.ts";
import type { TextKind } from "../../../src/search/reading/kinds.ts";
import { readDocuments } from "../../../src/search/reading/read-document.ts";
import { docsUrl } from "../../../src/urls/index.ts";

/** The documents of a file of a kind. */
export const documentsOfText = (text: string, kind: TextKind): SourceDocument[] =>
  readDocuments({
    url: docsUrl("docs", "a file"),
    path: "a file",
    text,
    kind,
    mayNameItself: true,
  }).toArray();

/** The Markdown of a file that is one document. */
export const markdownOf = (text: string, kind: TextKind): string =>
  documentsOfText(text, kind)
    .map(({ markdown }) => markdown)
    .join("\n");
