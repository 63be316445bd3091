import { extname } from "node:path";

/** The kinds of files that are read while an index is built; `api` is OpenAPI, Swagger or AsyncAPI. */
export type TextKind = "markdown" | "mdx" | "rst" | "asciidoc" | "notebook" | "api" | "man" | "plain";

/** The kinds of files that become documents; `file` is PDF, DOCX, ODT and EPUB. These and pages of HTML are extracted before. */
export type FileKind = TextKind | "html" | "file";

/** Tells the kind of a file whose ending several kinds share; null for a file that is no document. */
type KindOfText = (text: string) => FileKind | null;

// Docutils' directives and targets, which no other text has.
const isRst = (text: string): boolean => /^\.\. (?:[a-z][\w:-]{0,60}::|_[^\n:]{1,200}:)/m.test(text);

// Editors keep HTTP requests in files of the same ending.
const HTTP_REQUESTS = /^\s*(?:###|@\w+\s*=|(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) )/;

/** The keys that an API's description begins with are looked for in JSON of any layout, and at the margin in YAML. */
const JSON_API = /"(?:openapi|swagger|asyncapi)"\s{0,100}:\s{0,100}"[\d.]/;
const YAML_API = /^["']?(?:openapi|swagger|asyncapi)["']?[ \t]*:[ \t]*["']?\d/m;

const jsonOrNone: KindOfText = (text) => (JSON_API.test(text) ? "api" : null);
const yamlOrNone: KindOfText = (text) => (YAML_API.test(text) || JSON_API.test(text) ? "api" : null);

/** Comments and macros of a page's own may come before its title. */
const MAN_TITLE_WITHIN = 32_768;
const manOrNone: KindOfText = (text) =>
  /^[.'][ \t]*(?:TH|Dd|Dt|SH|Sh)[ \t]/m.test(text.slice(0, MAN_TITLE_WITHIN)) ? "man" : null;

/** The one table of endings: in lower case, without the dot. */
const KINDS: Readonly<Record<string, FileKind | KindOfText>> = {
  md: "markdown",
  markdown: "markdown",
  mdx: "mdx",
  html: "html",
  htm: "html",
  pdf: "file",
  docx: "file",
  odt: "file",
  epub: "file",
  rst: "rst",
  rest: (text) => (HTTP_REQUESTS.test(text) ? null : "rst"),
  adoc: "asciidoc",
  asciidoc: "asciidoc",
  asc: (text) => (text.startsWith("-----BEGIN PGP") ? null : "asciidoc"),
  man: manOrNone,
  mdoc: manOrNone,
  ...Object.fromEntries(Array.from({ length: 9 }, (_, section) => [`${section + 1}`, manOrNone])),
  ipynb: "notebook",
  json: jsonOrNone,
  yaml: yamlOrNone,
  yml: yamlOrNone,
  // Django keeps its documentation in such files.
  txt: (text) => (isRst(text) ? "rst" : "plain"),
};

/** A larger file is no document that a person wrote. */
const MAX_FILE_BYTES = 20 * 1024 * 1024;
/** Most of a large notebook are pictures and outputs, which are left out. */
const MAX_NOTEBOOK_BYTES = 64 * 1024 * 1024;

/** Why a file of this size is not read; null when it is. */
export function refusalOfSize(path: string, size: number): string | null {
  const limit = kindOfEnding(path) === "notebook" ? MAX_NOTEBOOK_BYTES : MAX_FILE_BYTES;
  return size <= limit ? null : `${size} bytes are more than ${limit}`;
}

/** The endings of files that may be documents, in lower case, without the dot. */
export const DOCUMENT_ENDINGS: readonly string[] = Object.keys(KINDS);

const kindOfEnding = (path: string): FileKind | KindOfText | undefined => {
  const ending = extname(path).slice(1).toLowerCase();
  return Object.hasOwn(KINDS, ending) ? KINDS[ending] : undefined;
};

/** Whether a file may be a document, as far as its name tells; `kindOf` reads its text. */
export const mayBeDocument = (path: string): boolean => kindOfEnding(path) !== undefined;

/** Whether a file is a document by its name alone, so that it is worth a word when it cannot be read. */
export const isDocument = (path: string): boolean => kindOf(path, "") !== null;

/** The kind of a file by its ending, and by its text where several kinds share that; null for no document. */
export function kindOf(path: string, text: string): FileKind | null {
  const kind = kindOfEnding(path) ?? null;
  return typeof kind === "function" ? kind(text) : kind;
}
