import { scanBlocks } from "../../../../markdown/index.ts";
import { type Child, copyButton, h, saveBlob } from "../dom.ts";
import { formatNumber } from "../format.ts";

/** A source with buttons that give all of it, as it is. */
export function source(text: string, view: HTMLElement, name: string, type: string): HTMLElement {
  const save = (): void => saveBlob(name, new Blob([text], { type }));
  return h(
    "div.source",
    h(
      "p.actions",
      copyButton("Copy", () => text),
      h("button.small", { type: "button", onclick: save }, "Save"),
      h("span.fine.number", `${formatNumber(text.length)} characters`),
    ),
    view,
  );
}

/** The characters that are shown at once; a click shows the next ones. */
const PORTION = 60_000;
/** In longer lines nothing is coloured. */
const MAX_LINE = 4000;

/** A coloured stretch of Markdown; everything else is plain words. */
type Stretch = { readonly start: number; readonly end: number; readonly kind: "heading" | "code" | "text" };
type Heading = { readonly start: number; readonly level: number };

/**
 * Shows Markdown source, coloured, with sections that fold. The beginnings of blocks come from the grammar that the rest
 * of this program reads Markdown with.
 */
export function markdownView(markdown: string): HTMLElement {
  const { stretches, headings } = readStretches(markdown);
  const view = h("div.written", { tabindex: "0", role: "region", "aria-label": "Markdown" });
  /** The open sections, each inside the one before it. */
  const sections: { readonly level: number; readonly body: HTMLElement }[] = [{ level: 0, body: view }];
  const more = h("button.small", { type: "button", onclick: () => showMore() }, "Show more");
  let at = 0;
  let next = 0;
  let nextHeading = 0;
  const showMore = (): void => {
    more.remove();
    for (const end = at + PORTION; at < markdown.length && at < end; ) {
      while ((headings[nextHeading]?.start ?? at) < at) nextHeading++;
      const heading = headings[nextHeading];
      if (heading?.start === at) {
        nextHeading++;
        while (sections.length > 1 && sections.at(-1)!.level >= heading.level) sections.pop();
        const line = endOfLine(markdown, at);
        const body = h("div");
        const section = h("details", { open: true }, h("summary", ...spans(at, line)), body);
        sections.at(-1)!.body.append(section);
        sections.push({ level: heading.level, body });
        at = line;
      } else {
        const until = Math.min(heading?.start ?? markdown.length, endOfLine(markdown, end));
        sections.at(-1)!.body.append(h("div", ...spans(at, until)));
        at = until;
      }
    }
    if (at < markdown.length) view.append(more);
  };
  /** The text from one place to another, which come in their order. */
  const spans = (from: number, until: number): Child[] => {
    const parts: Child[] = [];
    let shown = from;
    for (; next < stretches.length && stretches[next]!.start < until; next++) {
      const { start, end, kind } = stretches[next]!;
      parts.push(h("span.mark", markdown.slice(shown, start)));
      if (kind === "text") parts.push(...coloured(markdown.slice(start, end)));
      else parts.push(h(`span.${kind}`, markdown.slice(start, end)));
      shown = end;
    }
    parts.push(h("span.mark", markdown.slice(shown, until)));
    return parts;
  };
  showMore();
  return view;
}

function endOfLine(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  return newline < 0 ? text.length : newline + 1;
}

function readStretches(markdown: string): {
  readonly stretches: readonly Stretch[];
  readonly headings: readonly Heading[];
} {
  const stretches: Stretch[] = [];
  const headings: Heading[] = [];
  let kind: Stretch["kind"] = "text";
  let level = 0;
  let depth = 0;
  scanBlocks(markdown, {
    open: () => void depth++,
    close: () => void depth--,
    begin: (leaf) => {
      level = leaf.kind === "heading" ? leaf.level : 0;
      kind =
        leaf.kind === "heading" ? "heading" : leaf.kind === "code" || leaf.kind === "math" ? "code" : "text";
    },
    line: (start, end) => {
      // Headings in quotations and items do not begin sections.
      if (level > 0 && depth === 0)
        headings.push({ start: markdown.lastIndexOf("\n", start - 1) + 1, level });
      level = 0;
      if (end > start) stretches.push({ start, end, kind });
    },
    end: () => {},
    rule: () => {},
    reference: () => {},
  });
  return { stretches, headings };
}

// No class holds what begins the next try, so that each character is read a limited number of times.
const PHRASE = /(`[^`\n]+`)|(!?\[[^[\]\n]*\]\([^()\s]*\))|(\*\*[^*\n]+\*\*)/g;
const PHRASE_KINDS = ["code", "link", "strong"] as const;

function coloured(text: string): Child[] {
  if (text.length > MAX_LINE) return [text];
  const parts: Child[] = [];
  let at = 0;
  for (const match of text.matchAll(PHRASE)) {
    const kind = PHRASE_KINDS[match.slice(1).findIndex((group) => group !== undefined)] ?? "code";
    parts.push(text.slice(at, match.index), h(`span.${kind}`, match[0]));
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

/** The entries of an object or a list that are shown at once. */
const ENTRIES = 200;
const MAX_TEXT = 400;
/** The longest text that is shown at all. */
const MAX_SHOWN = 200_000;
/** Objects and lists with more entries are folded at first. */
const MAX_OPEN = 12;

/** Shows a JSON value as a tree of its parts; what is folded is made when it is unfolded. */
export const jsonView = (value: unknown): HTMLElement =>
  h(
    "div.written.json",
    { tabindex: "0", role: "region", "aria-label": "JSON" },
    jsonPart(null, value, true, 0),
  );

function jsonPart(name: string | null, value: unknown, isLast: boolean, depth: number): HTMLElement {
  const key: Child[] = name === null ? [] : [h("span.key", JSON.stringify(name)), h("span.mark", ": ")];
  const comma = h("span.mark", isLast ? "" : ",");
  if (typeof value !== "object" || value === null) return h("div", ...key, jsonLeaf(value), comma);
  const entries = Array.isArray(value)
    ? value.map((part): [string | null, unknown] => [null, part])
    : Object.entries(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return h("div", ...key, h("span.mark", `${open}${close}`), comma);
  const body = h("div.inside");
  const what = `${formatNumber(entries.length)} ${Array.isArray(value) ? "item" : "field"}${entries.length === 1 ? "" : "s"}`;
  const summary = h(
    "summary",
    ...key,
    h("span.mark", open),
    h("span.folded", ` ${what} ${close}${isLast ? "" : ","}`),
  );
  const details = h("details", summary, body, h("span.mark.end", close), comma);
  const fillBody = (): void => {
    if (details.open && body.childElementCount === 0) appendEntries(body, entries, 0, depth + 1);
  };
  details.addEventListener("toggle", fillBody);
  details.open = depth === 0 || entries.length <= MAX_OPEN;
  fillBody();
  return details;
}

function appendEntries(
  body: HTMLElement,
  entries: readonly (readonly [string | null, unknown])[],
  from: number,
  depth: number,
): void {
  const end = Math.min(entries.length, from + ENTRIES);
  for (let place = from; place < end; place++) {
    const [name, value] = entries[place]!;
    body.append(jsonPart(name, value, place === entries.length - 1, depth));
  }
  if (end === entries.length) return;
  const more = h("button.small", { type: "button" }, `${formatNumber(entries.length - end)} more`);
  more.addEventListener("click", () => {
    more.remove();
    appendEntries(body, entries, end, depth);
  });
  body.append(more);
}

function jsonLeaf(value: unknown): HTMLElement {
  if (typeof value !== "string") return h("span.number", JSON.stringify(value));
  if (value.length <= MAX_TEXT) return h("span.string", JSON.stringify(value));
  const shown = JSON.stringify(value.slice(0, MAX_TEXT)).slice(0, -1);
  const text = h("span.string", shown);
  const rest = h(
    "button.small",
    { type: "button" },
    `… ${formatNumber(value.length - MAX_TEXT)} more characters`,
  );
  rest.addEventListener("click", () => {
    const isCut = value.length > MAX_SHOWN;
    text.textContent = isCut
      ? `${JSON.stringify(value.slice(0, MAX_SHOWN)).slice(0, -1)}…`
      : JSON.stringify(value);
    rest.remove();
  });
  return h("span", text, " ", rest);
}
