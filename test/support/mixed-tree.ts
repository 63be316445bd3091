import type { LeftOutReason } from "../../src/search/index.ts";
import { proseOf } from "./docs-site.ts";
import type { CommittedFile } from "./git-server.ts";

/** A tree of files of every sort, and what a tenant of them has to count. */
export type MixedTree = {
  readonly files: Readonly<Record<string, CommittedFile>>;
  readonly documents: number;
  readonly leftOut: Readonly<Partial<Record<LeftOutReason, number>>>;
};

/** Of a hundred files, in their order: how many are of a sort, and what becomes of them. */
const SORTS: readonly {
  readonly count: number;
  readonly fate: "document" | LeftOutReason;
  readonly make: (n: number) => readonly [path: string, file: CommittedFile];
}[] = [
  { count: 25, fate: "document", make: (n) => [`docs/a${n % 50}/page-${n}.md`, source(n)] },
  {
    count: 5,
    fate: "document",
    make: (n) => [`docs/rst/page ${n}.rst`, `Page ${n}\n=========\n\n${prose(n)}`],
  },
  { count: 4, fate: "document", make: (n) => [`docs/adoc/page-${n}.adoc`, `= Page ${n}\n\n${prose(n)}`] },
  { count: 3, fate: "document", make: (n) => [`docs/tëxt/notes-${n}.txt`, prose(n)] },
  { count: 2, fate: "document", make: (n) => [`docs/mdx/page-${n}.mdx`, source(n)] },
  { count: 1, fate: "document", make: (n) => [`docs/web/page-${n}.html`, page(n)] },
  // Each has a source of the first sort.
  { count: 2, fate: "duplicate", make: (n) => [`docs/_build/html/a${n % 50}/page-${n}.html`, page(n)] },
  { count: 20, fate: "unknown_kind", make: (n) => [`docs/images/figure-${n}.png`, `PNG ${n}`] },
  {
    count: 18,
    fate: "unknown_kind",
    make: (n) => [`src/module-${n % 40}/file-${n}.ts`, `export const n = ${n};`],
  },
  { count: 5, fate: "excluded", make: (n) => [`docs/drafts-${n}.draft.md`, source(n)] },
  { count: 3, fate: "hidden", make: (n) => [`docs/.note-${n}.md`, source(n)] },
  { count: 3, fate: "lfs_pointer", make: (n) => [`docs/large/page-${n}.md`, pointer(n)] },
  { count: 2, fate: "empty", make: (n) => [`docs/empty/page-${n}.md`, " \n"] },
  { count: 2, fate: "not_text", make: (n) => [`docs/broken/page-${n}.md`, `# ${n}\0`] },
  { count: 1, fate: "not_included", make: (n) => [`elsewhere/page-${n}.md`, source(n)] },
  {
    count: 1,
    fate: "link",
    make: (n) => [`docs/links/page-${n}.md`, { mode: "120000", content: "../a.md" }],
  },
];

/** Folders that are left out as a whole, with some files of each hundred; they count once. */
const WHOLE: readonly (readonly [folder: string, fate: LeftOutReason])[] = [
  ["node_modules", "excluded"],
  ["docs/_sources", "excluded"],
  [".github", "hidden"],
];

const prose = (n: number): string => proseOf(`page ${n}`, 40);
const source = (n: number): string => `# Page ${n}\n\nThis is *page ${n}* of many.\n\n${prose(n)}\n`;
const page = (n: number): string =>
  `<title>Page ${n}</title><main><h1>Page ${n}</h1><p>This is <em>page ${n}</em> of many.</p><p>${prose(n)}</p></main>`;
const pointer = (n: number): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${n.toString(16).padStart(64, "0")}\nsize ${n}\n`;

/** The patterns that the tree is made for. */
export const MIXED_RULES = { include: ["docs/", "src/"], exclude: ["*.draft.md"] };

/** @param count a multiple of 100 */
export function makeMixedTree(count: number): MixedTree {
  const files: Record<string, CommittedFile> = {};
  const leftOut: Partial<Record<LeftOutReason, number>> = {};
  let documents = 0;
  const note = (fate: "document" | LeftOutReason): void => {
    if (fate === "document") documents++;
    else leftOut[fate] = (leftOut[fate] ?? 0) + 1;
  };
  for (const { count: share, fate, make } of SORTS) {
    for (let n = 0; n < (share * count) / 100; n++) {
      const [path, file] = make(n);
      files[path] = file;
      note(fate);
    }
  }
  for (const [folder, fate] of WHOLE) {
    for (let n = 0; n < count / 100; n++) files[`${folder}/package-${n}/README.md`] = source(n);
    note(fate);
  }
  return { files, documents, leftOut };
}
