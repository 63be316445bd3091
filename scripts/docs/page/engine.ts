/**
 * The search of the documentation's pages: the program's own analysis, ranking and snippets, over an index that is built of
 * the pages' Markdown when the search is first used. `main.ts` loads it as a script beside `documents.js`.
 */

import { Analyser } from "../../../src/search/analysis/analyser.ts";
import { headingPath } from "../../../src/search/index.ts";
import { scoreDocuments } from "../../../src/search/query/phrases.ts";
import { searchIndex } from "../../../src/search/searcher.ts";
import type { FindCandidates } from "../../../src/search/types.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";
import type { DocumentUrl } from "../../../src/urls/index.ts";
import { buildMemoryIndex } from "../memory-index.ts";

/** A page as `documents.js` has it. */
type SearchedDocument = { readonly path: string; readonly title: string; readonly markdown: string };

/** A page that was found. */
export type DocsHit = {
  readonly title: string;
  /** Its sections that fit best, the best first, at least one. */
  readonly places: readonly {
    /** Below the site's root, with the fragment. */
    readonly address: string;
    /** The headings of the section; empty for the page's beginning. */
    readonly headings: string;
    /** Escaped for HTML, with the found words in `<mark>`. */
    readonly snippet: string;
  }[];
};

declare global {
  var docsDocuments: readonly SearchedDocument[];
  var docsSearch: (query: string) => readonly DocsHit[];
  var hashOfText: (text: string) => number;
}

// The runtime has hashes of its own; here any will do (FNV-1a). It must be there before the index is built.
globalThis.hashOfText = (text) => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};

const { profile, language } = DEFAULT_SEARCH;
const analyser = new Analyser(profile, language);
const index = buildMemoryIndex(
  globalThis.docsDocuments.map(({ path, title, markdown }) => ({
    url: `docs://pages/${path.replace(/\.html$/, "")}` as DocumentUrl, // it has the form of one
    title,
    markdown,
  })),
  profile,
);

globalThis.docsSearch = (query) => {
  const parts = {
    reader: index,
    findCandidates,
    settings: isTask(query) ? TASK_SETTINGS : SETTINGS,
    analyser,
  };
  return searchIndex(parts, query, OPTIONS).map((hit) => {
    const path = `${hit.url.slice("docs://pages/".length)}.html`;
    const places = hit.sections.map(({ anchor, headings, snippet }) => ({
      address: anchor === null ? path : `${path}#${anchor}`,
      headings: headingPath({ title: hit.title, headings }),
      snippet,
    }));
    return { title: hit.title, places };
  });
};

const SETTINGS = {
  ...DEFAULT_SEARCH,
  // They are shorter than a hit of the program has them: many pages should fit into the window.
  snippet: { ...DEFAULT_SEARCH.snippet, fragmentChars: 160 },
  preferences: { boost: [], deboost: ["index", "decisions"] },
};

// Who asks how to do something wants the page about it before the tables that name its words. These are beginnings of paths:
// other patterns need the runtime.
const TASK_SETTINGS = {
  ...SETTINGS,
  preferences: { boost: ["how-to/"], deboost: [...SETTINGS.preferences.deboost, "api"] },
};

/** Several words, none of them an option, a file or a name from code. */
const isTask = (query: string): boolean => /^[\p{L}\s'’?]+$/u.test(query) && /\S\s+\S/.test(query);

const OPTIONS = {
  size: 10,
  wordMatch: false,
  explain: false,
  withSections: true,
  snippetStyle: "html",
  deadline: Number.POSITIVE_INFINITY,
} as const;

/** There are so few pages that each one is scored. */
const findCandidates: FindCandidates = (reader, terms, options) => {
  const all = Array.from({ length: reader.documentCount }, (_, document) => document);
  return scoreDocuments(reader, terms, all, options).filter(({ score }) => score > 0);
};
