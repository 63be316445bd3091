import { extname } from "node:path";
import { type FileKind, mayBeDocument } from "../reading/kinds.ts";

/** Folders of sources and of what generators make of them: `docs/guide.md`, `docs/_build/html/guide.html`. */
const PASSED_OVER = new Set([
  ...["docs", "doc", "documentation", "source", "sources", "_sources", "src", "content", "pages"],
  ...["_build", "build", "html", "dirhtml", "site", "_site", "public", "dist", "out", "output", "book"],
]);

/** The names of a folder's own page. */
const OWN_PAGE = new Set(["index", "readme"]);

/** Larger groups are of names that many pages have, and comparing takes the square of their number. */
const MAX_GROUP = 16;

/**
 * Groups files that may be one document in several forms, as far as their names tell: `guide.md` with
 * `guide.html`, `guide/index.html` or `_build/html/guide.html`. `findDuplicates` compares their texts.
 * @returns all paths, in the order of the first of each group
 */
export function groupForms(paths: readonly string[]): readonly (readonly string[])[] {
  return [...Map.groupBy(paths, formKey).values()].flatMap((group) =>
    group.length <= MAX_GROUP && new Set(group.map(endingOf)).size > 1
      ? [group]
      : group.map((path) => [path]),
  );
}

const endingOf = (path: string): string => extname(path).toLowerCase();

function formKey(path: string): string {
  let stem = path.normalize("NFC").toLowerCase();
  // `guide.html.md` has two endings, `tool.1.html.md` three.
  for (let round = 0; round < 3 && mayBeDocument(stem); round++) stem = stem.slice(0, -extname(stem).length);
  const names = stem.split("/").filter((name) => !PASSED_OVER.has(name));
  if (OWN_PAGE.has(names.at(-1) ?? "")) names.pop();
  return names.join("/");
}

/** A form of a document: its kind and its text, with the markup of its kind. */
export type Form = { readonly path: string; readonly kind: FileKind; readonly text: string };

/**
 * The text of one form counts as that of another from this share of the smaller one's triples of words on. Of 399
 * pages of Git's and Python's documentation 2 share less with their own source, and with other sources none shares
 * more than 23 %.
 */
const SAME_SHARE = 0.4;
/** A page of this many times the words holds what its source only names: included files, generated lists. */
const CLEARLY_MORE = 1.5;
/** Shorter texts are the same only when all of their words are. */
const MIN_TRIPLES = 8;
/** The beginning tells enough, and a text of megabytes must not hold the thread. */
const MAX_COMPARED = 100_000;

/**
 * Finds the forms that stand for the document of another form. Of two the source is better than text, and text
 * better than HTML, unless the other one has clearly more words. Forms of one kind are different documents.
 * @returns the path of the better form, by that of the worse
 */
export function findDuplicates(forms: readonly Form[]): ReadonlyMap<string, string> {
  const sources = [...forms].sort((a, b) => rankOf(a.kind) - rankOf(b.kind));
  const kept: Worded[] = [];
  const better = new Map<string, string>();
  for (const form of sources) {
    const one = wordedOf(form);
    const place = kept.findIndex((other) => other.form.kind !== form.kind && isSame(one, other));
    const other = kept[place];
    if (other === undefined) kept.push(one);
    else if (one.count > other.count * CLEARLY_MORE) {
      better.set(other.form.path, form.path);
      kept[place] = one;
    } else better.set(form.path, other.form.path);
  }
  return better;
}

const rankOf = (kind: FileKind): number => (kind === "html" ? 2 : kind === "plain" ? 1 : 0);

type Worded = {
  readonly form: Form;
  readonly count: number;
  /** Hashes of each three words in a row. */
  readonly triples: ReadonlySet<number>;
  readonly words: string;
};

function wordedOf(form: Form): Worded {
  // Addresses differ: a source links to sources, and a page to pages.
  const shown = form.text.slice(0, MAX_COMPARED).replace(/\]\([^()\s]*\)|<[a-z/!][^<>]*>/gi, " ");
  const words = shown.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const triples = new Set<number>();
  for (let at = 2; at < words.length; at++)
    triples.add(Bun.hash.xxHash32(`${words[at - 2]} ${words[at - 1]} ${words[at]}`));
  // Of a longer text the rest is taken to be like its beginning.
  const count = words.length * Math.max(1, form.text.length / MAX_COMPARED);
  return { form, count, triples, words: words.join(" ") };
}

function isSame(a: Worded, b: Worded): boolean {
  const [few, many] = a.triples.size < b.triples.size ? [a.triples, b.triples] : [b.triples, a.triples];
  if (few.size < MIN_TRIPLES) return a.words !== "" && a.words === b.words;
  let shared = 0;
  for (const triple of few) if (many.has(triple)) shared++;
  return shared >= few.size * SAME_SHARE;
}
