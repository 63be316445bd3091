import { announce, copyButton, fill, h } from "../dom.ts";
import { formatNumber } from "../format.ts";
import { problemMessage } from "../http.ts";
import { renderMarkdown } from "../markdown/render.ts";
import { fetchDocument } from "./mcp.ts";
import { type Place, placeHash } from "./place.ts";
import { shortUrl } from "./results.ts";

/**
 * Shows the document that the place names.
 * @throws AbortError by the signal
 */
export async function showDocument(element: HTMLElement, place: Place, signal: AbortSignal): Promise<void> {
  const uri = place.document ?? "";
  const back = h("a", { href: placeHash({ ...place, document: null }), class: "back" }, backLabel(place));
  fill(element, back, h("p.fine", "Loading …"));
  try {
    const found = await fetchDocument(place.documentTenant, uri, signal);
    signal.throwIfAborted();
    const { element: prose, goTo } = renderMarkdown(found.content, {
      base: found.url,
      onLink: (address) => openInside(address, found.url, place),
    });
    // Many documents begin with their title; others get it here.
    const title = prose.querySelector("h1") ? null : h("h1", found.title);
    fill(element, back, head(found.url, place.documentTenant), prose);
    if (title) prose.prepend(title);
    element.append(footer(found.content, found.total_chars));
    announce(`Document: ${found.title}`);
    if (place.anchor === null || !goTo(place.anchor)) focusStart(element);
  } catch (error) {
    if (signal.aborted) throw error;
    const again = (): void => void showDocument(element, place, signal).catch(() => {});
    fill(element, back, problemMessage(error, again));
  }
}

const backLabel = ({ query }: Place): string => (query === "" ? "← Collections" : `← Results for “${query}”`);

function head(url: string, tenant: string): HTMLElement {
  const isWeb = /^https?:/.test(url);
  const rel = "noopener noreferrer";
  const address = isWeb ? h("a", { href: url, target: "_blank", rel }, shortUrl(url)) : url;
  return h("header", h("p.fine", h("span.tag", tenant), " ", address));
}

const footer = (markdown: string, characters: number): HTMLElement =>
  h(
    "footer",
    copyButton("Copy as Markdown", () => markdown),
    h("span.fine.number", `${formatNumber(characters)} characters`),
  );

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
function openInside(address: string, from: string, place: Place): boolean {
  if (URL.parse(address)?.origin !== URL.parse(from)?.origin) return false;
  const [document = "", anchor = null] = address.split("#", 2);
  const target = placeHash({ ...place, document, anchor });
  fetchDocument(place.documentTenant, document).then(
    () => {
      location.hash = target;
    },
    () => {
      if (/^https?:/.test(address)) window.open(address, "_blank", "noopener,noreferrer");
      else announce(`${place.documentTenant} has no document ${document}`);
    },
  );
  return true;
}
