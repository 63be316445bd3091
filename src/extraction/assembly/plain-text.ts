import { mayHoldBareTex } from "../document/math.ts";
import type { PageModel } from "../page/page-model.ts";
import { Tag, tagId } from "../page/tags.ts";
import { type ChosenContent, walkContent } from "./content-walk.ts";
import { Insides } from "./insides.ts";
import { OutermostElements } from "./outermost.ts";
import { type TextPiece, TextSink } from "./text-sink.ts";
import { WholeElements } from "./whole-elements.ts";

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
  const marks = new MarkedElements(chosen.model);
  const needsAll =
    !sink.isDivisible ||
    sink.blockCount !== chosen.blocks.length ||
    ALERT.test(text) ||
    mayHoldTex(text, chosen.model) ||
    holdsNotes(chosen, marks);
  return { text, pieces: needsAll ? null : joinStructures(chosen, pieces, marks) };
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
  /(?:^|\s)(?:note|tip|important|warning|caution|danger|attention|deprecated|alert|hint|callout|classifier|fragment|custom-block|starlight-aside|tabs?|tab-set|tab-?group|sphinx-tabs|content-tabs|code-tabs|code-group)(?:\s|$)|admonition|markdown-alert|tabbed-set|tabs-container|tab-set|code-group|starlight-tabs|tabs-wrapper|syntaxhighlighter|crayon/i;
/** Names of frames around code, which hold its title and its tools; see `canonicalCode`. */
const FRAME_NAME =
  /(?:^|[\s_-])(?:highlight|codehilite|highlighter|rouge|sourcecode|hljs|prism|shiki|code|codeblock|codeblockcontainer|listingblock|literal-block-wrapper|wp-block-code|expressive|hcb|enlighter|gist|blob-wrapper|language|snippet)/i;

/** What elements are called that chosen text stands in; most names of a page are not asked for. */
class MarkedElements {
  readonly #model: PageModel;
  readonly #insides: Insides;
  readonly #notes: OutermostElements;
  readonly #structures: OutermostElements;
  /** What each name says, as bits; `UNREAD` until somebody asks. */
  readonly #kinds: Uint8Array;

  constructor(model: PageModel) {
    this.#model = model;
    this.#insides = new Insides(model);
    this.#notes = new OutermostElements(model, (element) => (this.#kindOf(element) & NOTE) !== 0);
    this.#structures = new OutermostElements(model, (element) => this.#isStructure(element));
    this.#kinds = new Uint8Array(model.names.length).fill(UNREAD);
    this.#kinds[0] = 0;
  }

  /** Whether an element stands in notes or formulas, or is them. */
  isNote(element: number): boolean {
    return this.#notes.around(element) >= 0;
  }

  /** The outermost structure that an element stands in or is; -1 for none. */
  structureAround(element: number): number {
    return this.#structures.around(element);
  }

  #isStructure(element: number): boolean {
    const kind = this.#kindOf(element);
    if ((kind & STRUCTURE) !== 0) return true;
    const isFrame = (kind & FRAME) !== 0 && FRAMES.has(this.#model.tag[element]!);
    return isFrame && this.#insides.holds(PRES, element) && !holdsOnlyCode(this.#model, element);
  }

  #kindOf(element: number): number {
    const { classId, idId } = this.#model;
    return this.#kindOfName(classId[element]!) | this.#kindOfName(idId[element]!);
  }

  #kindOfName(name: number): number {
    if (this.#kinds[name] === UNREAD) this.#kinds[name] = kindOfName(this.#model.names[name]!.slice(0, 1000));
    return this.#kinds[name]!;
  }
}

const NOTE = 1;
const STRUCTURE = 2;
const FRAME = 4;
const UNREAD = 255;
const PRE = Tag.pre;
const PRES: readonly number[] = [PRE];
const FRAMES = new Set("div figure table section span".split(" ").map(tagId));

const kindOfName = (name: string): number =>
  (NOTE_NAME.test(name) ? NOTE : 0) |
  (STRUCTURE_NAME.test(name) ? STRUCTURE : 0) |
  (FRAME_NAME.test(name) ? FRAME : 0);

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

/** Whether chosen text stands in notes or formulas. */
function holdsNotes({ model, blocks }: ChosenContent, marks: MarkedElements): boolean {
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index]!;
    for (let text = model.blocks.firstText[block]!; text < model.blocks.endText[block]!; text++) {
      if (marks.isNote(model.textParent[text]!)) return true;
    }
  }
  return false;
}

/** Pieces of one structure become one, which is not exact. */
function joinStructures(
  chosen: ChosenContent,
  pieces: readonly TextPiece[],
  marks: MarkedElements,
): readonly TextPiece[] {
  const inStructures = joinWithin(chosen, pieces, (element) => marks.structureAround(element), true);
  if (inStructures.every(({ isExact }) => isExact)) return inStructures;
  // The document gets code and formulas as the page wrote them, with all that is beside them.
  const wholes = new WholeElements(chosen.model);
  return joinWithin(chosen, inStructures, (element) => wholes.around(element), false);
}

function joinWithin(
  { model, blocks }: ChosenContent,
  pieces: readonly TextPiece[],
  outermost: (element: number) => number,
  isInexact: boolean,
): readonly TextPiece[] {
  const outermostOf = (index: number, isEnd: boolean): number => {
    const block = blocks[index]!;
    const text = isEnd ? model.blocks.endText[block]! - 1 : model.blocks.firstText[block]!;
    return outermost(model.textParent[text]!);
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

/** Whether `$…$` and the like in the text may be formulas. */
const mayHoldTex = (text: string, model: PageModel): boolean =>
  mayHoldBareTex(text) || (text.includes("$") && drawsTex(model));

const TEX_SCRIPT = /\bsrc\s*=\s*["']?[^"'>]{0,500}?(?:mathjax|katex|auto-render)/i;
const TEX_CODE = /\bMathJax\s*[=.{]|\brenderMathInElement\s*\(/;

/** Whether a script of the page draws formulas from their TeX. */
export function drawsTex({ html, elementCount, tag, openStart, openEnd, closeEnd }: PageModel): boolean {
  for (let element = 0; element < elementCount; element++) {
    if (tag[element] !== Tag.script) continue;
    if (TEX_SCRIPT.test(html.slice(openStart[element]!, openEnd[element]!))) return true;
    const code = html.slice(openEnd[element]!, closeEnd[element]!);
    const mayBe = code.includes("MathJax") || code.includes("renderMathInElement");
    if (mayBe && TEX_CODE.test(code)) return true;
  }
  return false;
}
