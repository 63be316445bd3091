import type { DocumentAnchor, SourceDocument } from "../types.ts";
import { withoutHiddenMarkup } from "./hidden-markup.ts";

const MAX_TITLE = 300;

/**
 * Removes from a document what its readers do not see but a language model would read: comments and hidden
 * elements of HTML, and characters that are invisible or reverse the order of the text. In code it removes
 * only such characters. It shortens the title to one line of at most 300 characters. Takes time linear in the
 * text.
 */
export function cleanDocument({ url, title, markdown, anchors }: SourceDocument): SourceDocument {
  const line = withoutHiddenCharacters(title).replace(/\s+/g, " ").trim();
  const shown = withoutHiddenMarkup(withoutHiddenCharacters(markdown));
  return {
    url,
    title: line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1).toWellFormed()}…`,
    markdown: shown,
    ...(anchors && { anchors: movedAnchors(anchors, markdown, shown) }),
  };
}

/** The anchors at their places in what is left of a text. */
function movedAnchors(
  anchors: readonly DocumentAnchor[],
  before: string,
  after: string,
): readonly DocumentAnchor[] {
  if (before.length === after.length) return anchors;
  let at = 0;
  let kept = 0;
  return anchors.map(({ id, start }) => {
    for (; at < start; at++) if (before.charCodeAt(at) === after.charCodeAt(kept)) kept++;
    return { id, start: kept };
  });
}

// These are bidirectional controls, zero-width characters that no script needs, and soft hyphens.
const HIDDEN = /[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\u00ad\ufff9-\ufffb]+/g;

const withoutHiddenCharacters = (text: string): string => withoutTagCharacters(text.replace(HIDDEN, ""));

// U+E0000 to U+E007F in UTF-16 begin with this unit.
const TAG_LEAD = "\udb40";
const isTagTrail = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdc7f;
const FLAG = "\u{1f3f4}";

/** Removes tag characters except in flags (UTS #51, 1.4.6), because everywhere else they hide text. */
function withoutTagCharacters(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf(TAG_LEAD); at >= 0; at = text.indexOf(TAG_LEAD, at)) {
    const end = tagRunEnd(text, at);
    if (end > at && !text.startsWith(FLAG, at - FLAG.length)) {
      kept.push(text.slice(from, at));
      from = end;
    }
    at = Math.max(end, at + 1);
  }
  return from === 0 ? text : kept.join("") + text.slice(from);
}

function tagRunEnd(text: string, at: number): number {
  let end = at;
  while (text[end] === TAG_LEAD && isTagTrail(text.charCodeAt(end + 1))) end += 2;
  return end;
}
