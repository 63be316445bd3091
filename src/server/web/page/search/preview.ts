import { fill, fitWindow, h } from "../dom.ts";
import { renderMarkdown } from "../markdown/render.ts";
import { type FoundDocument, fetchPreview, type Hit } from "./api.ts";
import { shownAddress } from "./place.ts";

/** From this width on there is room for a preview beside the results; also in search.css. */
const WIDE = matchMedia("(min-width: 68rem)");
/** How long a hit stays chosen before it is loaded, in ms: who moves on along the list loads nothing. */
const PAUSE_MS = 120;
const MAX_KEPT = 30;
/** How far below the upper edge the first match is shown, in pixels. */
const ABOVE_PX = 120;

/** Shows the section of the chosen hit beside the results. */
export class Preview {
  readonly #element: HTMLElement;
  readonly #onLink: (address: string, hit: Hit) => boolean;
  readonly #fit: () => void;
  readonly #kept = new Map<string, FoundDocument>();
  #chosen: HTMLAnchorElement | null = null;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #underWay = new AbortController();

  /** @param onLink handles a link of a document instead of the browser; false leaves it to the browser */
  constructor(element: HTMLElement, onLink: (address: string, hit: Hit) => boolean) {
    this.#element = element;
    this.#onLink = onLink;
    // It scrolls, which a keyboard must be able to do too.
    element.tabIndex = 0;
    this.#fit = fitWindow(element, WIDE);
    WIDE.addEventListener("change", () => {
      if (!WIDE.matches) this.clear();
    });
  }

  clear(): void {
    this.#choose(null);
    clearTimeout(this.#pause);
    this.#underWay.abort();
    this.#element.hidden = true;
    fill(this.#element);
  }

  /** Shows a hit after a moment; the same one again changes nothing. */
  show(chosen: { readonly hit: Hit; readonly link: HTMLAnchorElement } | null): void {
    if (!WIDE.matches || chosen === null || chosen.link === this.#chosen) return;
    this.#choose(chosen.link);
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => void this.#load(chosen.hit, chosen.link), PAUSE_MS);
  }

  #choose(link: HTMLAnchorElement | null): void {
    this.#chosen?.closest("li")?.classList.remove("chosen");
    link?.closest("li")?.classList.add("chosen");
    this.#chosen = link;
  }

  async #load(hit: Hit, link: HTMLAnchorElement): Promise<void> {
    this.#underWay.abort();
    this.#underWay = new AbortController();
    const { signal } = this.#underWay;
    try {
      const found = await this.#read(hit, signal);
      if (!signal.aborted) this.#fill(found, hit, link);
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      fill(this.#element, h("p.fine", `No preview: ${reason}`));
      this.#element.hidden = false;
    }
  }

  async #read({ tenant, url, anchor }: Hit, signal: AbortSignal): Promise<FoundDocument> {
    const uri = anchor === null ? url : `${url}#${anchor}`;
    const key = `${tenant} ${uri}`;
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const found = await fetchPreview({ tenant, uri }, signal);
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(key, found);
    return found;
  }

  #fill(found: FoundDocument, hit: Hit, link: HTMLAnchorElement): void {
    const { docs_name: name, markdown, is_cut: isCut, url } = found;
    const onLink = (address: string): boolean => this.#onLink(address, hit);
    const { element } = renderMarkdown(markdown, { base: url, onLink });
    const open = h("a", { href: link.hash, class: "open" }, isCut ? "Read on" : "Open the document");
    fill(
      this.#element,
      h("p.fine.source", h("strong", name), " › ", shownAddress(url)),
      hit.anchor === null && !element.querySelector("h1") ? h("h2", hit.title) : null,
      element,
      h("p", open),
    );
    this.#element.hidden = false;
    const matches = link.closest("li")?.querySelectorAll("mark") ?? [];
    const words = Array.from(matches, ({ textContent }) => textContent);
    this.#fit();
    // The preview shown before may have been scrolled.
    this.#element.scrollTop = 0;
    const first = mostTelling(markWords(element, words))?.getBoundingClientRect().top ?? 0;
    // A long section is shown where its first match is, below a few lines of what comes before.
    const { top, bottom } = this.#element.getBoundingClientRect();
    if (first > Math.min(bottom, innerHeight) - ABOVE_PX) this.#element.scrollTop = first - top - ABOVE_PX;
  }
}

/** A word in the preview. */
type Mark = { readonly word: string; readonly at: number; readonly range: Range };

/** Marks words in a text without changing its elements, in browsers that can. @returns the marks in their order */
function markWords(element: HTMLElement, words: readonly string[]): Mark[] {
  const wanted = new Set(words.map((word) => word.toLowerCase()).filter((word) => word !== ""));
  const marks: Mark[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let start = 0;
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const written = node.textContent ?? "";
    const text = written.toLowerCase();
    // A few letters become two, and places would no longer be the same.
    if (text.length !== written.length) continue;
    for (const word of wanted)
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const isWhole = !/[\p{L}\p{N}]/u.test(`${text[at - 1] ?? ""}${text[at + word.length] ?? ""}`);
        if (!isWhole) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        marks.push({ word, at: start + at, range });
      }
    start += text.length;
  }
  if (typeof Highlight !== "undefined")
    CSS.highlights.set("found", new Highlight(...marks.map(({ range }) => range)));
  return marks.sort((a, b) => a.at - b.at);
}

/** Words within this many characters belong together. */
const NEARBY = 300;

/** Finds the place with the most words together, as in the snippet; a single word may be anywhere. */
function mostTelling(marks: readonly Mark[]): Range | null {
  let best: Mark | null = null;
  let most = 0;
  for (const [place, mark] of marks.entries()) {
    const nearby = new Set<string>();
    for (let next = place; next < marks.length && marks[next]!.at < mark.at + NEARBY; next++)
      nearby.add(marks[next]!.word);
    if (nearby.size > most) {
      best = mark;
      most = nearby.size;
    }
  }
  return best?.range ?? null;
}
