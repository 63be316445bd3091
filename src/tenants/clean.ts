import type { SourceDocument } from "../search/index.ts";
import { createBreathing } from "./breathing.ts";

const MAX_TITLE = 300;

/**
 * A document without what readers of the folder do not see, but a language model would read: comments and
 * hidden elements of HTML, characters that show nothing or turn the order of the text around. Code stays as
 * it is, save for such characters. A title is one line of at most 300 characters.
 */
function cleanDocument({ url, title, markdown }: SourceDocument): SourceDocument {
  const line = withoutHiddenCharacters(title).replace(/\s+/g, " ").trim();
  return {
    url,
    title: line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1).toWellFormed()}…`,
    markdown: withoutHiddenMarkup(withoutHiddenCharacters(markdown)),
  };
}

// Bidirectional controls, zero-width characters that no script needs, soft hyphens, and tag characters
// outside of the flags that are made of them (UTS #51, 1.4.6).
const HIDDEN =
  /[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\u00ad\ufff9-\ufffb]|(?<!\u{1f3f4}[\u{e0020}-\u{e007f}]*)[\u{e0000}-\u{e007f}]/gu;

const withoutHiddenCharacters = (text: string): string => text.replace(HIDDEN, "");

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const OPENING =
  /`+|<!--|<(script|style|template)\b[^<>]{0,2000}>|<([a-z][a-z0-9-]*)\b[^<>]{0,1000}?\s(?:hidden(?=[\s/>=])|aria-hidden\s*=\s*["']?true|style\s*=\s*["'][^"'<>]{0,300}?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])))[^<>]{0,2000}>/i;

function withoutHiddenMarkup(markdown: string): string {
  if (!markdown.includes("<")) return markdown;
  const lines = markdown.split("\n");
  const out: string[] = [];
  let prose: string[] = [];
  let fence: string | null = null;
  for (const line of lines) {
    const mark = FENCE.exec(line)?.[1] ?? null;
    if (fence === null && mark === null) {
      prose.push(line);
      continue;
    }
    if (fence === null) {
      out.push(
        ...cutHidden(prose.join("\n"))
          .split("\n")
          .slice(0, prose.length === 0 ? 0 : undefined),
      );
      prose = [];
      fence = mark;
    } else if (mark !== null && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark)
      fence = null;
    out.push(line);
  }
  if (prose.length > 0) out.push(cutHidden(prose.join("\n")));
  return out.join("\n");
}

/** Cuts comments and hidden elements; one that is never closed hides the rest, as in a browser. */
function cutHidden(text: string): string {
  let kept = "";
  let rest = text;
  for (let match = OPENING.exec(rest); match; match = OPENING.exec(rest)) {
    const [found, tag = null] = [match[0], match[1] ?? match[2]];
    const after = match.index + found.length;
    if (found.startsWith("`")) {
      const end = after + endOfCode(rest.slice(after), found);
      kept += rest.slice(0, end);
      rest = rest.slice(end);
      continue;
    }
    kept += rest.slice(0, match.index);
    rest = rest.slice(after);
    rest = rest.slice(endOf(rest, tag));
  }
  return kept + rest;
}

const MAX_CODE_SPAN = 2000;

/** Where a code span that has just begun ends; 0 when its backticks are only backticks. */
function endOfCode(text: string, ticks: string): number {
  const end = text.slice(0, MAX_CODE_SPAN).search(new RegExp(`(?<!\`)${ticks}(?!\`)`));
  return end < 0 || text.slice(0, end).includes("\n\n") ? 0 : end + ticks.length;
}

/** Where a comment (no tag) or an element ends, nested ones of its name counted. */
function endOf(text: string, tag: string | null): number {
  if (tag === null) {
    const end = text.indexOf("-->");
    return end < 0 ? text.length : end + 3;
  }
  if (/^(?:img|br|hr|input|link|meta)$/i.test(tag)) return 0;
  let depth = 1;
  for (const { 0: found, 1: slash, index } of text.matchAll(
    new RegExp(`<(/?)${tag}\\b[^<>]{0,2000}>`, "gi"),
  )) {
    depth += slash === "/" ? -1 : 1;
    if (depth === 0) return index + found.length;
  }
  return text.length;
}

/** Documents of a source, cleaned one by one; what else the process does has its turns in between. */
export async function* cleanDocuments(
  documents: AsyncIterable<SourceDocument>,
): AsyncGenerator<SourceDocument> {
  const breathe = createBreathing();
  for await (const document of documents) {
    yield cleanDocument(document);
    await breathe();
  }
}
