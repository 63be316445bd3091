import { Database } from "bun:sqlite";
import { existsSync, rmSync } from "node:fs";
import MiniSearch from "minisearch";
import createWink from "wink-bm25-text-search";
import { wordsIn } from "../../../src/base/text.ts";
import { Analyser } from "../../../src/search/analysis/analyser.ts";
import { buildSegment } from "../../../src/search/builder/build-segment.ts";
import { DocumentAnalyser } from "../../../src/search/document/analyse.ts";
import { SearchIndex, type SourceDocument } from "../../../src/search/index.ts";
import { SegmentFile } from "../../../src/search/segment/file.ts";
import { DEFAULT_SEARCH, INDEX_BUILD } from "../../../src/settings/index.ts";

/** An engine of the bench. It searches what it has built; engines with a file open it again. */
export type Contender = {
  build(sections: readonly SourceDocument[], file: string): Promise<void>;
  /** Opens the built file; null for engines that live in memory only. */
  readonly open: ((file: string) => void) | null;
  /** The addresses or numbers of the best ten, each with a snippet if the engine has snippets. */
  search(query: string): readonly unknown[];
  /** The bytes of postings, dictionary and lengths, if they can be measured. */
  indexBytes?(file: string): number;
};

const HITS = 10;

function createOurs(): Contender {
  let index: SearchIndex | null = null;
  return {
    async build(sections, path) {
      const analyser = new Analyser("default");
      const documents = new DocumentAnalyser(analyser);
      await buildSegment(sections, {
        path,
        previous: null,
        memoryBytes: INDEX_BUILD.memoryBytes,
        analysis: {
          fingerprint: analyser.fingerprint,
          vocabulary: analyser,
          analyse: (source) => documents.analyse(source),
        },
      });
    },
    open(path) {
      index?.[Symbol.dispose]();
      index = SearchIndex.open(path, DEFAULT_SEARCH);
    },
    search: (query) =>
      index?.search(query, {
        size: HITS,
        wordMatch: false,
        explain: false,
        deadline: Number.POSITIVE_INFINITY,
      }) ?? [],
    indexBytes(path) {
      using file = SegmentFile.open(path);
      const parts = wordsIn("postings signatures terms termBlocks termEnds termEndBlocks lengths");
      return parts.reduce((sum, part) => sum + file.section(part).end - file.section(part).start, 0);
    },
  };
}

// It has the settings of the quality comparison: a weighted title, porter stems, any of the words.
function createFts5(): Contender {
  let database: Database | null = null;
  let statement: ReturnType<Database["query"]> | null = null;
  return {
    async build(sections, path) {
      if (existsSync(path)) rmSync(path);
      const made = new Database(path, { create: true });
      made.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
      made.run(
        "CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, title, body, tokenize = 'porter unicode61')",
      );
      const insert = made.prepare("INSERT INTO pages VALUES (?, ?, ?)");
      made.transaction(() => {
        for (const { url, title, markdown } of sections) insert.run(url, title, markdown);
      })();
      made.close();
    },
    open(path) {
      database?.close();
      database = new Database(path, { readonly: true });
      statement = database.query(
        `SELECT url, title, snippet(pages, 2, '', '', '…', 32) AS snippet FROM pages
         WHERE pages MATCH ? ORDER BY bm25(pages, 0, 3, 1) LIMIT ${HITS}`,
      );
    },
    search(query) {
      const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
      if (words.length === 0) return [];
      return statement?.all(words.map((word) => `"${word}"`).join(" OR ")) ?? [];
    },
  };
}

function createMiniSearch(): Contender {
  const engine = new MiniSearch<{ id: number; title: string; body: string }>({
    fields: ["title", "body"],
    searchOptions: { boost: { title: 3 } },
  });
  return {
    async build(sections) {
      sections.forEach(({ title, markdown }, id) => {
        engine.add({ id, title, body: markdown });
      });
    },
    open: null,
    search: (query) => engine.search(query).slice(0, HITS),
  };
}

function createWinkSearch(): Contender {
  const engine = createWink();
  const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  return {
    async build(sections) {
      engine.defineConfig({ fldWeights: { title: 3, body: 1 } });
      engine.definePrepTasks([words]);
      sections.forEach(({ title, markdown }, id) => {
        engine.addDoc({ title, body: markdown }, id);
      });
      engine.consolidate();
    },
    open: null,
    search: (query) => engine.search(query, HITS),
  };
}

export const CONTENDERS: Readonly<Record<string, () => Contender>> = {
  ours: createOurs,
  fts5: createFts5,
  minisearch: createMiniSearch,
  wink: createWinkSearch,
};
