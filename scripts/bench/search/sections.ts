import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceDocument } from "../../../src/search/index.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { spread } from "../bench.ts";

/** The collections from which the bench cuts its sections, in this order, until there are enough. */
const COLLECTIONS = ["cppdocs", "manhowto", "psdocs", "pgdocs", "pydocs", "faq"];

/** A section ends with the paragraph that brings it to this many characters. */
const SECTION_CHARACTERS = 545;
const MAX_PARAGRAPH_CHARACTERS = 900;

type CollectionDocument = { readonly _id: string; readonly title: string; readonly text: string };
type CollectionQuery = { readonly text: string; readonly kind: string };

/** Cuts sections of about 700 bytes from the documents of the collections, always the same ones. */
export function cutSections(directory: string, count: number): SourceDocument[] {
  const sections: SourceDocument[] = [];
  for (const name of COLLECTIONS) {
    for (const { _id, title, text } of readLines<CollectionDocument>(join(directory, name, "corpus.jsonl"))) {
      cut(text).forEach((markdown, part) => {
        sections.push({ url: docsUrl(name, `${_id}/${part}`), title, markdown });
      });
    }
  }
  if (sections.length < count)
    throw new Error(`${directory} holds ${sections.length} sections, not ${count}`);
  return [...spread(sections, count)];
}

function cut(text: string): string[] {
  const sections: string[] = [];
  let section = "";
  for (const paragraph of text.split(/\n\n+/)) {
    for (let start = 0; start < paragraph.length; start += MAX_PARAGRAPH_CHARACTERS) {
      section += `${paragraph.slice(start, start + MAX_PARAGRAPH_CHARACTERS)}\n\n`;
      if (section.length < SECTION_CHARACTERS) continue;
      sections.push(section);
      section = "";
    }
  }
  if (section.trim() !== "") sections.push(section);
  return sections;
}

export type BenchQuery = { readonly text: string; readonly group: "words" | "identifier" | "question" };

/** 600 queries of one to three words, 200 identifiers and 200 questions, spread over the collections. */
export function mixQueries(directory: string): BenchQuery[] {
  const all = COLLECTIONS.flatMap((name) =>
    readLines<CollectionQuery>(join(directory, name, "queries.dev.jsonl")),
  );
  const wordCount = (text: string): number => text.trim().split(/\s+/).length;
  const words = all.filter(({ kind, text }) => /^(?:word|phrase|alias)$/.test(kind) && wordCount(text) <= 3);
  const identifiers = all.filter(({ kind }) => kind === "identifier");
  const questions = all.filter(({ kind }) => /^(?:question|howto|howto-named|sentence-\w+)$/.test(kind));
  const take = (
    queries: readonly CollectionQuery[],
    group: BenchQuery["group"],
    count: number,
  ): BenchQuery[] => spread(queries, count).map(({ text }) => ({ text, group }));
  const mixed = [
    ...take(words, "words", 600),
    ...take(identifiers, "identifier", 200),
    ...take(questions, "question", 200),
  ];
  // The kinds are mixed, because caches would serve one kind at a time better than the mix.
  return mixed.map((_, index) => mixed[(index * 379) % mixed.length]!);
}

const readLines = <Line>(path: string): Line[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line); // the collections' own format
