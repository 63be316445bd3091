import type { PageModel } from "../page/page-model.ts";
import { tagId } from "../page/tags.ts";
import { type ChosenContent, walkContent } from "./content-walk.ts";
import { wholesOf } from "./frames.ts";
import { type TextPiece, TextSink } from "./text-sink.ts";

export type PlainText = {
  readonly text: string;
  /**
   * What the text is made of, set apart by a blank line; null where only a document of all the content can
   * tell what it is: notes and formulas. A piece that is not exact needs a document of its own: code, tabs,
   * most tables.
   */
  readonly pieces: readonly TextPiece[] | null;
};

/** The text of chosen content without a document, which costs a third of the time that one takes. */
export function plainTextOf(chosen: ChosenContent): PlainText {
  const sink = new TextSink(chosen.model);
  walkContent(chosen, sink);
  const { pieces } = sink;
  const text = joinTexts(pieces.map((piece) => piece.text));
  const marks = markedElements(chosen.model);
  const needsAll =
    !sink.isDivisible ||
    sink.blockCount !== chosen.blocks.length ||
    ALERT.test(text) ||
    mayHoldTex(text, chosen.model.html) ||
    (marks !== null && holdsText(chosen, marks.notes));
  return { text, pieces: needsAll ? null : joinStructures(chosen, pieces, marks?.structures ?? null) };
}

/** Texts that stand below each other; empty ones are no text. */
export const joinTexts = (texts: readonly string[]): string => texts.filter(Boolean).join("\n\n");

/** GitHub's own mark of an alert, as its Markdown has it. */
const ALERT = /\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]/;

/** Names of what takes something from elsewhere on the page: notes and their references, formulas. */
const NOTE_NAME =
  /katex|mathjax|mwe-math|(?:^|\s)math(?:\s|$)|foot-?note|noteref|fnref|cite[_-](?:ref|note)|(?:^|[\s_-])(?:fn|ftn|edn|sdfootnote|endnote|note|en)s?(?:def)?[-_:.]?(?:\d|[a-f\d]{8})|(?:^|\s)fn(?:\s|$)/i;
/** Names of what the document model reads as something else than its elements say, but by itself. */
const STRUCTURE_NAME =
  /(?:^|\s)(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION|alert|hint|callout|custom-block|starlight-aside|tabs?|tab-set|tab-?group|sphinx-tabs|content-tabs|code-tabs|code-group)(?:\s|$)|admonition|markdown-alert|tabbed-set|tabs-container|tab-set|code-group|starlight-tabs|tabs-wrapper|syntaxhighlighter|crayon/i;
/** Names of frames around code, which hold its title and its tools; see `canonicalCode`. */
const FRAME_NAME =
  /(?:^|[\s_-])(?:highlight|codehilite|highlighter|rouge|sourcecode|hljs|prism|shiki|code|codeblock|codeblockcontainer|listingblock|literal-block-wrapper|wp-block-code|expressive|hcb|enlighter|gist|blob-wrapper|language|snippet)/i;

type Marks = {
  /** For each element whether it stands in notes or formulas, or is them. */
  readonly notes: Uint8Array;
  /** For each element the outermost structure that it stands in or is; -1 for none. */
  readonly structures: Int32Array;
};

/** What elements are called; null when no name says anything. */
function markedElements(model: PageModel): Marks | null {
  const { names, elementCount, parent, classId, idId, tag } = model;
  const kinds = names.map((name) => kindOfName(name.slice(0, 1000)));
  if (kinds.every((kind) => kind === 0)) return null;
  const framesCode = kinds.includes(FRAME) ? holdersOf(model, PRE) : null;
  const notes = new Uint8Array(elementCount);
  const structures = new Int32Array(elementCount).fill(-1);
  for (let element = 0; element < elementCount; element++) {
    const outer = parent[element]!;
    const kind = (kinds[classId[element]!] ?? 0) | (kinds[idId[element]!] ?? 0);
    notes[element] = (kind & NOTE) !== 0 || (outer >= 0 && notes[outer] === 1) ? 1 : 0;
    const isFrame = (kind & FRAME) !== 0 && FRAMES.has(tag[element]!) && framesCode?.[element] === 1;
    const above = outer < 0 ? -1 : structures[outer]!;
    if (above >= 0) structures[element] = above;
    else if ((kind & STRUCTURE) !== 0 || (isFrame && !holdsOnlyCode(model, element)))
      structures[element] = element;
  }
  return { notes, structures };
}

const NOTE = 1;
const STRUCTURE = 2;
const FRAME = 4;
const PRE = tagId("pre");
const FRAMES = new Set("div figure table section span".split(" ").map(tagId));

const kindOfName = (name: string): number =>
  (NOTE_NAME.test(name) ? NOTE : 0) |
  (STRUCTURE_NAME.test(name) ? STRUCTURE : 0) |
  (FRAME_NAME.test(name) ? FRAME : 0);

/** For each element whether one of these is inside it. */
function holdersOf({ tag, parent, elementCount }: PageModel, inner: number): Uint8Array {
  const holders = new Uint8Array(elementCount);
  for (let element = 0; element < elementCount; element++) {
    if (tag[element] !== inner) continue;
    for (let at = parent[element]!; at >= 0 && holders[at] === 0; at = parent[at]!) holders[at] = 1;
  }
  return holders;
}

/** Elements and characters beside the code of a frame beyond which it holds more than that. */
const MAX_BESIDE_CODE = { elements: 64, length: 2000 };

/** Whether an element has no text but that of one `<pre>`, so that it names nothing and has no tools. */
function holdsOnlyCode(model: PageModel, frame: number): boolean {
  const { tag, elementEnd, html, openStart, closeEnd } = model;
  let pre = -1;
  let seen = 0;
  for (let element = frame + 1; element < elementEnd[frame]!; ) {
    if (++seen > MAX_BESIDE_CODE.elements || (pre >= 0 && tag[element] === PRE)) return false;
    if (tag[element] === PRE) pre = element;
    element = tag[element] === PRE ? elementEnd[element]! : element + 1;
  }
  if (pre < 0) return false;
  const before = html.slice(openStart[frame]!, openStart[pre]!);
  const after = html.slice(closeEnd[pre]!, closeEnd[frame]!);
  if (before.length + after.length > MAX_BESIDE_CODE.length) return false;
  const beside = before + after;
  return (
    !/data-label|<(?:img|table|iframe|video)/i.test(beside) && beside.replace(/<[^<>]*>/g, "").trim() === ""
  );
}

/** Whether chosen text stands in a marked element. */
function holdsText({ model, blocks }: ChosenContent, isMarked: Uint8Array): boolean {
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index]!;
    for (let text = model.blocks.firstText[block]!; text < model.blocks.endText[block]!; text++) {
      if (isMarked[model.textParent[text]!] === 1) return true;
    }
  }
  return false;
}

/** Pieces of one structure become one, which is not exact. */
function joinStructures(
  chosen: ChosenContent,
  pieces: readonly TextPiece[],
  structures: Int32Array | null,
): readonly TextPiece[] {
  const inStructures = structures === null ? pieces : joinWithin(chosen, pieces, structures, true);
  if (inStructures.every(({ isExact }) => isExact)) return inStructures;
  // The document gets code and formulas as the page wrote them, with all that is beside them.
  return joinWithin(chosen, inStructures, wholesOf(chosen.model), false);
}

function joinWithin(
  { model, blocks }: ChosenContent,
  pieces: readonly TextPiece[],
  outermost: Int32Array,
  isInexact: boolean,
): readonly TextPiece[] {
  const outermostOf = (index: number, isEnd: boolean): number => {
    const block = blocks[index]!;
    const text = isEnd ? model.blocks.endText[block]! - 1 : model.blocks.firstText[block]!;
    return outermost[model.textParent[text]!]!;
  };
  const joined: TextPiece[] = [];
  let last = -1;
  for (const piece of pieces) {
    let isInside = false;
    for (let index = piece.from; index < piece.until && !isInside; index++) {
      isInside = outermostOf(index, false) >= 0 || outermostOf(index, true) >= 0;
    }
    const isExact = piece.isExact && !(isInexact && isInside);
    const before = joined.at(-1);
    const first = piece.from < piece.until ? outermostOf(piece.from, false) : -1;
    if (before && first >= 0 && first === last) {
      joined[joined.length - 1] = {
        text: joinTexts([before.text, piece.text]),
        isExact: before.isExact && isExact,
        from: before.from,
        until: piece.until,
        hasCode: before.hasCode || piece.hasCode,
      };
    } else joined.push(isExact === piece.isExact ? piece : { ...piece, isExact });
    last = piece.from < piece.until ? outermostOf(piece.until - 1, true) : -1;
  }
  return joined;
}

/** Whether `$…$` and the like in the text may be formulas, which a script of the page draws. */
const mayHoldTex = (text: string, html: string): boolean => /\$|\\[([]/.test(text) && drawsTex(html);

/** Whether a script of the page draws formulas from their TeX. */
export const drawsTex = (html: string): boolean =>
  /mathjax|katex|auto-render/i.test(html) &&
  /<script\b[^>]{0,500}?\bsrc\s*=\s*["']?[^"'>]{0,500}?(?:mathjax|katex|auto-render)|\bMathJax\s*[=.{]|\brenderMathInElement\s*\(/i.test(
    html,
  );
