import type { Inline, Span } from "./model.ts";

/**
 * Normalises phrases as a browser lays them out: one space between words, none at the ends and around line breaks,
 * spaces outside of emphasis, adjacent spans of one kind joined, nothing empty.
 */
export function normalisePhrases(inlines: readonly Inline[]): Inline[] {
  const [only] = inlines;
  if (inlines.length === 1 && only?.kind === "text") return plainPhrase(only.text);
  const collapsed = new Collapser().run(inlines);
  return trimBreaks(joinNeighbours(collapsed.flatMap(hoistSpace)));
}

// Renderers disagree on whether the separators of lines and paragraphs end a line.
const SPACES = /[ \t\n\r\f\u0085\u2028\u2029]+/g;

/** Handles the most frequent case, a phrase of one text, in a fifth of the time. */
function plainPhrase(text: string): Inline[] {
  const shown = trimmed(text.replace(SPACES, " "), true, true);
  return shown === "" ? [] : [{ kind: "text", text: shown }];
}

class Collapser {
  #isSpaced = true;

  run(inlines: readonly Inline[]): Inline[] {
    const out: Inline[] = [];
    for (const inline of inlines.flatMap(spaceOutside)) {
      const shown = this.#one(inline);
      if (shown) out.push(shown);
    }
    return out;
  }

  #one(inline: Inline): Inline | null {
    switch (inline.kind) {
      case "text": {
        const text = inline.text.replace(SPACES, " ");
        const shown = this.#isSpaced && text.startsWith(" ") ? text.slice(1) : text;
        if (shown === "") return null;
        this.#isSpaced = shown.endsWith(" ");
        return { kind: "text", text: shown };
      }
      case "break":
        this.#isSpaced = true;
        return inline;
      case "span":
      case "link": {
        const children = this.run(inline.children);
        return children.length > 0 ? { ...inline, children } : null;
      }
      case "ruby": {
        const parts = inline.parts.map((part) => ({ ...part, base: normalisePhrases(part.base) }));
        const shown = parts.filter((part) => part.base.length > 0 || part.annotation !== "");
        if (shown.length === 0) return null;
        this.#isSpaced = false;
        return { kind: "ruby", parts: shown };
      }
      default:
        this.#isSpaced = false;
        return inline;
    }
  }
}

/** Moves the spaces at the ends of code outside of it, where they still separate it from its neighbours. */
function spaceOutside(inline: Inline): Inline[] {
  if (inline.kind !== "code") return [inline];
  const text = inline.text.replace(SPACES, " ");
  const shown = text.trim();
  if (text === "") return [];
  if (shown === text) return [{ kind: "code", text }];
  const gap: Inline = { kind: "text", text: " " };
  if (shown === "") return [gap];
  const start = text.indexOf(shown);
  return [
    ...(start > 0 ? [gap] : []),
    { kind: "code", text: shown },
    ...(start + shown.length < text.length ? [gap] : []),
  ];
}

/** Moves the spaces and breaks at the ends of a span or link outside of it. */
function hoistSpace(inline: Inline): Inline[] {
  if (inline.kind !== "span" && inline.kind !== "link") return [inline];
  const children = joinNeighbours(inline.children.flatMap(hoistSpace));
  const before: Inline[] = [];
  const after: Inline[] = [];
  for (let first = children[0]; first; first = children[0]) {
    if (first.kind === "break") before.push(first);
    else if (first.kind === "text" && /^[ \u00a0]/.test(first.text)) {
      before.push({ kind: "text", text: first.text.charAt(0) });
      const rest = first.text.slice(1);
      if (rest !== "") {
        children[0] = { kind: "text", text: rest };
        continue;
      }
    } else break;
    children.shift();
  }
  for (let last = children.at(-1); last; last = children.at(-1)) {
    if (last.kind === "break") after.unshift(last);
    else if (last.kind === "text" && /[ \u00a0]$/.test(last.text)) {
      after.unshift({ kind: "text", text: last.text.slice(-1) });
      const rest = last.text.slice(0, -1);
      if (rest !== "") {
        children[children.length - 1] = { kind: "text", text: rest };
        continue;
      }
    } else break;
    children.pop();
  }
  if (children.length === 0) return [...before, ...after];
  return [...before, { ...inline, children: flattenSame(inline, children) }, ...after];
}

// <b><strong>x</strong></b> is one emphasis.
const flattenSame = (outer: Inline, children: readonly Inline[]): readonly Inline[] =>
  outer.kind === "span" && (outer.tag === "strong" || outer.tag === "em" || outer.tag === "del")
    ? children.flatMap((child) =>
        child.kind === "span" && child.tag === outer.tag && isPlain(child) ? child.children : [child],
      )
    : children;

const isPlain = (span: Span): boolean => span.lang === undefined && span.dir === undefined;

function joinNeighbours(inlines: readonly Inline[]): Inline[] {
  const out: Inline[] = [];
  for (const inline of inlines) {
    const last = out.at(-1);
    if (inline.kind === "text" && last?.kind === "text") {
      const gap = last.text.endsWith(" ") && inline.text.startsWith(" ") ? inline.text.slice(1) : inline.text;
      out[out.length - 1] = { kind: "text", text: last.text + gap };
    } else if (inline.kind === "span" && last?.kind === "span" && areJoinable(last, inline)) {
      out[out.length - 1] = { ...last, children: joinNeighbours([...last.children, ...inline.children]) };
    } else if (inline.kind === "code" && last?.kind === "code") {
      out[out.length - 1] = { kind: "code", text: last.text + inline.text };
    } else out.push(inline);
  }
  return out;
}

const areJoinable = (a: Span, b: Span): boolean =>
  a.tag === b.tag && (a.tag === "strong" || a.tag === "em" || a.tag === "del") && isPlain(a) && isPlain(b);

/** Removes spaces beside line breaks, and spaces and breaks at the ends. */
function trimBreaks(inlines: Inline[]): Inline[] {
  const out: Inline[] = [];
  for (const [index, inline] of inlines.entries()) {
    if (inline.kind !== "text") {
      out.push(inline);
      continue;
    }
    const before = out.at(-1);
    const isFirst = before === undefined || before.kind === "break";
    const isLast = index === inlines.length - 1 || inlines[index + 1]?.kind === "break";
    const text = trimmed(inline.text, isFirst, isLast);
    if (text !== "") out.push(text === inline.text ? inline : { kind: "text", text });
  }
  while (out[0]?.kind === "break") out.shift();
  while (out.at(-1)?.kind === "break") out.pop();
  return out;
}

const SPACE = 0x20;
const NO_BREAK_SPACE = 0xa0;

/** Removes the spaces at the start or the end of a text, including no-break spaces at the end. */
function trimmed(text: string, atStart: boolean, atEnd: boolean): string {
  let start = 0;
  let end = text.length;
  while (atStart && start < end && text.charCodeAt(start) === SPACE) start++;
  for (; atEnd && start < end; end--) {
    const code = text.charCodeAt(end - 1);
    if (code !== SPACE && code !== NO_BREAK_SPACE) break;
  }
  return end - start === text.length ? text : text.slice(start, end);
}

/** Tells whether phrases show anything. */
export const isShown = (inlines: readonly Inline[]): boolean =>
  inlines.some((inline) =>
    inline.kind === "text"
      ? inline.text.trim() !== ""
      : inline.kind === "span" || inline.kind === "link"
        ? isShown(inline.children)
        : inline.kind !== "break",
  );

/** Splits phrases at two line breaks in a row, which pages write instead of paragraphs. */
export function splitAtBlankLines(inlines: readonly Inline[]): Inline[][] {
  const paragraphs: Inline[][] = [[]];
  for (const [index, inline] of inlines.entries()) {
    const isSecond = inline.kind === "break" && inlines[index - 1]?.kind === "break";
    if (isSecond) {
      if (paragraphs.at(-1)!.length > 0) paragraphs.push([]);
    } else paragraphs.at(-1)!.push(inline);
  }
  return paragraphs.map(trimBreaks).filter(isShown);
}
