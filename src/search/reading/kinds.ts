import { extname } from "node:path";

/** The kinds of files that are read while the index is built. */
export type TextKind = "markdown" | "mdx" | "rst" | "asciidoc" | "plain";

/** The kinds of files that become documents. Pages of HTML are extracted before. */
export type FileKind = TextKind | "html";

/** Tells the kind of a file whose ending several kinds share; null for a file that is no document. */
type KindOfText = (text: string) => FileKind | null;

// Docutils' directives and targets, which no other text has.
const isRst = (text: string): boolean => /^\.\. (?:[a-z][\w:-]{0,60}::|_[^\n:]{1,200}:)/m.test(text);

// Editors keep HTTP requests in files of the same ending.
const HTTP_REQUESTS = /^\s*(?:###|@\w+\s*=|(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) )/;

/** The one table of endings: in lower case, without the dot. */
const KINDS: Readonly<Record<string, FileKind | KindOfText>> = {
  md: "markdown",
  markdown: "markdown",
  mdx: "mdx",
  html: "html",
  htm: "html",
  rst: "rst",
  rest: (text) => (HTTP_REQUESTS.test(text) ? null : "rst"),
  adoc: "asciidoc",
  asciidoc: "asciidoc",
  asc: (text) => (text.startsWith("-----BEGIN PGP") ? null : "asciidoc"),
  // Django keeps its documentation in such files.
  txt: (text) => (isRst(text) ? "rst" : "plain"),
};

const kindOfEnding = (path: string): FileKind | KindOfText | undefined => {
  const ending = extname(path).slice(1).toLowerCase();
  return Object.hasOwn(KINDS, ending) ? KINDS[ending] : undefined;
};

/** Whether a file may be a document, as far as its name tells; `kindOf` reads its text. */
export const mayBeDocument = (path: string): boolean => kindOfEnding(path) !== undefined;

/** The kind of a file by its ending, and by its text where several kinds share that; null for no document. */
export function kindOf(path: string, text: string): FileKind | null {
  const kind = kindOfEnding(path) ?? null;
  return typeof kind === "function" ? kind(text) : kind;
}
