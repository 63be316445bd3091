/** The search of the documentation's pages; they are whole without it. */
import MiniSearch, { type SearchResult } from "minisearch";

/** What is searched, as `docs.ts` writes it into `sections.js`: the text below each heading of a page. */
export type Section = Readonly<Record<"id" | "title" | "heading" | "text", string>>;

declare global {
  var docsSections: readonly Section[];
}

const FIELDS = ["title", "heading", "text"];
const STOP_WORDS = new Set(
  "a an and do does for from how i in is it me of on the to use what with".split(" "),
);
// Chosen with the questions of test/browser/docs.test.ts. The list of pages and the background come after what answers.
const OPTIONS = {
  boost: { title: 3, heading: 2 },
  weights: { fuzzy: 0.1, prefix: 0.6 },
  bm25: { k: 1.2, b: 0.3, d: 0.1 },
  prefix: (term: string) => term.length > 2,
  fuzzy: (term: string) => (term.length > 4 ? 0.3 : false),
  boostDocument: (id: string) => (/^(?:index|decisions)\./.test(id) ? 0.3 : 1),
} as const;

const root = document.documentElement.dataset.root ?? "";
const find = <Kind extends HTMLElement>(selector: string): Kind => document.querySelector<Kind>(selector)!; // of docs.ts
const field = find<HTMLInputElement>("#query");
const panel = find("#hits");

const processTerm = (term: string) => (STOP_WORDS.has(term.toLowerCase()) ? null : term.toLowerCase());
const index = new MiniSearch<Section>({ fields: FIELDS, storeFields: FIELDS, processTerm });
let loading: Promise<void> | null = null;

/** Fetches and indexes the sections, when somebody is about to search. */
async function loadIndex(): Promise<void> {
  const script = make("script") as HTMLScriptElement; // made as one
  script.src = `${root}assets/sections.js`;
  const loaded = new Promise((resolve) => script.addEventListener("load", resolve));
  document.head.append(script);
  await loaded;
  index.addAll(globalThis.docsSections);
}

function make(tag: string, ...children: readonly (Node | string)[]): HTMLElement {
  const element = document.createElement(tag);
  element.append(...children);
  return element;
}

async function search(): Promise<void> {
  const query = field.value.trim();
  loading ??= loadIndex();
  await loading;
  // Something else may have been typed while the index was built.
  if (query !== field.value.trim()) return;
  const found = index.search(query, OPTIONS);
  const best = [...Map.groupBy(found, ({ title }) => title).values()].slice(0, 10).map(([hit]) => hit!);
  const none = make("p", `Nothing was found for “${query}”.`);
  panel.replaceChildren(...(best.length > 0 ? best.map(hitElement) : query === "" ? [] : [none]));
}

function hitElement({ id, title, heading, text, terms }: SearchResult): HTMLElement {
  const words = new RegExp(`(${terms.map((term) => term.replace(/\W/g, "\\$&")).join("|")})`, "gi");
  const start = Math.max(0, text.search(words) - 60);
  const pieces = text.slice(start, start + 160).split(words);
  const snippet = pieces.map((piece: string, at: number) => (at % 2 === 1 ? make("mark", piece) : piece));
  const link = make("a", make("b", title), make("div", heading), make("small", ...snippet));
  link.setAttribute("href", root + id);
  return link;
}

find("search").hidden = false;
for (const type of ["focus", "input"]) field.addEventListener(type, () => void search());
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.select();
  } else if (event.key === "Enter" && event.target === field && !event.isComposing) find("#hits a").click();
  else if (event.key === "Escape") panel.replaceChildren();
});
