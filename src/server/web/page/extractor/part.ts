import { byId } from "../dom.ts";

/**
 * Shows the part that the address names: the crawls for `#crawls` and `#crawl=ID`, else the form for one page. It stands
 * in the page itself, so that the first picture already has the right part, without waiting for the other script.
 */
function showPart(): void {
  const isCrawls = /^#crawl(s$|=)/.test(location.hash);
  for (const [name, isShown] of [
    ["extract", !isCrawls],
    ["crawls", isCrawls],
  ] as const) {
    byId(name, HTMLElement).hidden = !isShown;
    const link = byId(`to-${name}`, HTMLAnchorElement);
    if (isShown) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

window.addEventListener("hashchange", showPart);
showPart();
