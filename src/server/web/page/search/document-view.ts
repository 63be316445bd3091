import { decodeLoosely } from "../../../../base/text.ts";
import { scanBlocks } from "../../../../markdown/index.ts";
import { announce, copyButton, fill, h } from "../dom.ts";
import { formatNumber } from "../format.ts";
import { problemMessage } from "../http.ts";
import { type RenderedHeading, renderMarkdown } from "../markdown/render.ts";
import { type FoundDocument, fetchDocument } from "./api.ts";
import { type Place, placeHash, shownAddress, stepsOf } from "./place.ts";

/** A document's position among the hits of its search. */
export type Neighbours = {
  /** 1 for the first. */
  readonly position: number;
  readonly count: number;
  readonly before: Neighbour | null;
  readonly after: Neighbour | null;
};
type Neighbour = { readonly hash: string; readonly title: string };

/** How many headings are worth an outline. */
const MIN_OUTLINE = 2;

let leaving = new AbortController();

/**
 * Shows the document that the place names.
 * @returns what shows its neighbours; null when it could not be shown, which the page says
 * @throws AbortError by the signal
 */
export async function showDocument(
  element: HTMLElement,
  place: Place,
  signal: AbortSignal,
): Promise<((among: Neighbours | null) => void) | null> {
  leaving.abort();
  leaving = new AbortController();
  const uri = place.document ?? "";
  const bar = h("nav.bar", { "aria-label": "Document" }, backLink(place));
  fill(element, bar, h("p.fine", "Loading …"));
  try {
    const found = await fetchDocument(place.documentTenant, uri, signal);
    signal.throwIfAborted();
    const onLink = (address: string): boolean => openInside(address, found.url, place);
    const starts = headingStarts(found.markdown);
    const headingOf = (fragment: string): number => {
      const wanted = decodeLoosely(fragment);
      const section = found.sections?.find(({ anchor }) => decodeLoosely(anchor) === wanted);
      return section ? starts.indexOf(section.start) : -1;
    };
    const view = renderMarkdown(found.markdown, { base: found.url, onLink, headingOf });
    const { element: prose } = view;
    const headings = view.outline();
    // Many documents begin with their title; others get it here.
    if (!prose.querySelector("h1")) prose.prepend(h("h1", found.title));
    const shown = headings.filter(({ text, level }) => level <= 3 && text !== "" && text !== found.title);
    const outline = shown.length < MIN_OUTLINE ? null : outlineOf(shown);
    const copies = copyButtons(found.markdown, headings, starts);
    const neighbours = h("span.neighbours");
    fill(bar, backLink(place), neighbours, h("span.copies", ...copies.buttons));
    fill(element, bar, h("div.reading", head(found, place), outline?.element, prose, footer(found)));
    followReading(bar, headings, (current) => {
      outline?.mark(current);
      copies.about(current);
    });
    announce(`Document: ${found.title}`);
    if (place.anchor === null || !view.goTo(place.anchor)) focusStart(element);
    return (among) => fill(neighbours, ...(among ? neighbourLinks(among) : []));
  } catch (error) {
    if (signal.aborted) throw error;
    const again = (): void => void showDocument(element, place, signal).catch(() => {});
    fill(element, bar, problemMessage(error, again));
    return null;
  }
}

const backLink = (place: Place): HTMLElement =>
  h(
    "a",
    { href: placeHash({ ...place, document: null }), class: "back" },
    place.query === "" ? "← Collections" : "← Results",
  );

/** The way to the document, and its address where it has one on the web. */
function head({ docs_name: name, url, tenant }: FoundDocument, place: Place): HTMLElement {
  const steps = stepsOf(url);
  const collection = h("a", { href: placeHash({ query: place.query, tenant }) }, name);
  const way = [collection, ...steps.map((step) => h("span", step))];
  way.at(-1)?.setAttribute("aria-current", "page");
  const rel = "noopener noreferrer";
  const section = place.anchor === null ? "" : `#${place.anchor}`;
  return h(
    "header",
    h("nav.crumbs", { "aria-label": "Breadcrumb" }, h("ol", ...way.map((step) => h("li", step)))),
    /^https?:/.test(url) &&
      h("p.fine", h("a", { href: url + section, target: "_blank", rel }, `${shownAddress(url)} ↗`)),
  );
}

const footer = ({ markdown }: FoundDocument): HTMLElement =>
  h("footer", h("span.fine.number", `${formatNumber(markdown.length)} characters`));

function neighbourLinks({ position, count, before, after }: Neighbours): HTMLElement[] {
  const link = (to: Neighbour | null, what: string, sign: string): HTMLElement =>
    to === null
      ? h("span", { class: "step", "aria-hidden": "true" }, sign)
      : h("a", { href: to.hash, class: "step", title: to.title, "aria-label": `${what}: ${to.title}` }, sign);
  return [
    link(before, "Previous result", "‹"),
    h("span.number", h("span.hush", "Result "), `${position} of ${count}`),
    link(after, "Next result", "›"),
  ];
}

function outlineOf(headings: readonly RenderedHeading[]) {
  const top = Math.min(...headings.map(({ level }) => level));
  const links = headings.map(({ level, text, goTo }) =>
    h("button", { type: "button", class: `level-${level - top}`, onclick: goTo }, text),
  );
  const list = h("ul", ...links.map((link) => h("li", link)));
  // Beside the text it is always open, above it when somebody opens it.
  const isBeside = matchMedia("(min-width: 68rem)");
  const details = h("details", { open: isBeside.matches }, h("summary", "On this page"), list);
  isBeside.addEventListener("change", () => (details.open = isBeside.matches), { signal: leaving.signal });
  return {
    element: h("nav.outline", { "aria-label": "On this page" }, details),
    mark: (current: RenderedHeading | null) => {
      for (const [at, link] of links.entries()) {
        if (headings[at] === current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    },
  };
}

/** Buttons that copy the section that is being read, and the whole. */
function copyButtons(markdown: string, headings: readonly RenderedHeading[], starts: readonly number[]) {
  let current: RenderedHeading | null = null;
  const sectionText = (): string => {
    const at = current === null ? -1 : headings.indexOf(current);
    const level = current?.level ?? 0;
    const after = headings.findIndex(
      (heading, place) => place > at && heading.level <= level && starts[place] !== -1,
    );
    return markdown.slice(starts[at] ?? 0, starts[after] ?? markdown.length).trim();
  };
  const section = copyButton("Copy section", sectionText);
  const about = (heading: RenderedHeading | null): void => {
    current = heading;
    section.hidden = heading === null;
    section.title = heading === null ? "" : `“${heading.text}” as Markdown`;
  };
  about(null);
  return { buttons: [section, copyButton("Copy page", () => markdown)], about };
}

/** Returns the start of each heading's line outside of lists, quotes and the like; -1 for a heading without text. */
function headingStarts(markdown: string): number[] {
  const starts: number[] = [];
  let depth = 0;
  let isHeading = false;
  scanBlocks(markdown, {
    open: () => depth++,
    close: () => depth--,
    begin: ({ kind }) => {
      isHeading = depth === 0 && kind === "heading";
      if (isHeading) starts.push(-1);
    },
    line: (start) => {
      if (isHeading) starts[starts.length - 1] = markdown.lastIndexOf("\n", start - 1) + 1;
      isHeading = false;
    },
    end: () => {},
    rule: () => {},
    reference: () => {},
  });
  return starts;
}

/** Says which heading the reader is below, now and whenever that changes, until another document is shown. */
function followReading(
  bar: HTMLElement,
  headings: readonly RenderedHeading[],
  onChange: (current: RenderedHeading | null) => void,
): void {
  let current: RenderedHeading | null = null;
  let isDue = false;
  const look = (): void => {
    isDue = false;
    const line = bar.getBoundingClientRect().bottom + 48;
    const above = headings.filter(
      (one) => one.text !== "" && (one.element()?.getBoundingClientRect().top ?? line + 1) <= line,
    );
    const found = above.at(-1) ?? null;
    if (found === current) return;
    current = found;
    onChange(found);
  };
  const soon = (): void => {
    if (!isDue) requestAnimationFrame(look);
    isDue = true;
  };
  addEventListener("scroll", soon, { passive: true, signal: leaving.signal });
  soon();
}

function focusStart(element: HTMLElement): void {
  window.scrollTo({ top: 0 });
  const start = element.querySelector<HTMLElement>(".prose h1, .prose h2, .prose p") ?? element;
  start.setAttribute("tabindex", "-1");
  start.focus({ preventScroll: true });
}

/**
 * Documents link to others of their site. Those that the tenant has open here, the others in another tab; only the
 * server knows which are which. Documents of folders (`docs:`) exist nowhere else.
 */
export function openInside(address: string, from: string, place: Place): boolean {
  if (URL.parse(address)?.origin !== URL.parse(from)?.origin) return false;
  const [document = "", anchor = null] = address.split("#", 2);
  const target = placeHash({ ...place, document, anchor });
  fetchDocument(place.documentTenant, document).then(
    () => {
      location.hash = target;
    },
    () => {
      if (/^https?:/.test(address)) window.open(address, "_blank", "noopener,noreferrer");
      else announce(`The collection has no document ${shownAddress(document)}`);
    },
  );
  return true;
}
