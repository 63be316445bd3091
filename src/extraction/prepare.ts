import { ancestorWhere, classOf } from "./document/element.ts";
import { PERMALINK_SIGN } from "./text.ts";

export { drawsFormulas } from "./document/math.ts";

/** Removes the links with which headings point to themselves; they are tools of the site, not text. */
export function removePermalinks(document: Document): void {
  for (const anchor of [
    ...document.querySelectorAll("h1 a, h2 a, h3 a, h4 a, h5 a, h6 a, dt a, caption a"),
  ]) {
    const isSign = PERMALINK_SIGN.test(anchor.textContent ?? "") && !anchor.querySelector("img");
    if (isSign && anchor.getAttribute("href")?.includes("#")) anchor.remove();
  }
}

/** Removes what the page marks as not shown, but for panels that a click shows. */
export function removeHidden(document: Document): void {
  for (const element of [...document.querySelectorAll("[hidden], [style]")]) {
    const isHidden =
      element.hasAttribute("hidden") ||
      /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(
        (element.getAttribute("style") ?? "").slice(0, 1000),
      );
    if (isHidden && !isPanel(element) && ancestorWhere(element, 3, isPanel) === null) element.remove();
  }
}

const isPanel = (element: Element): boolean =>
  element.getAttribute("role") === "tabpanel" ||
  /tab|accordion|collaps|panel|katex|mjx|MathJax/i.test(classOf(element).slice(0, 300));
