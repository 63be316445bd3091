import {
  ElementFlag,
  FIRST_UNKNOWN_TAG,
  isInside,
  type PageModel,
  startTagOf,
  Tag,
  TagTrait,
  tagAt,
  tagsNamed,
  textAt,
  traitsOf,
} from "../page/page-model.ts";
import { scanPage } from "../page/scan.ts";
import { codesOf, EntityText } from "../page/source-text.ts";
import { Tokenizer, type TokenSink } from "../page/tokenizer.ts";
import { WholeElements } from "../selection/whole-elements.ts";
import { PERMALINK_SIGN } from "../text.ts";
import { BARE_TOOL } from "./canonical/signature.ts";
import type { Pictures } from "./pictures.ts";
import { ancestorWhere, ContentElement, find, findAll, named, PageElements, textOf } from "./tree.ts";

/**
 * Builds a tree of everything that a piece of HTML shows. Hidden content is left out, except for the sources of
 * formulas.
 * @throws Failure `too_complex` for too many elements, see `scanPage`
 */
export function treeOfHtml(html: string): ContentElement {
  const { model } = scanPage(html);
  const root = new ContentElement("BODY");
  const wholes = new WholeElements(model);
  const keeps = (element: number): boolean =>
    (model.flags[element]! & ElementFlag.hidden) === 0 || wholes.around(element) >= 0;
  const stretch = { first: 0, end: model.elementCount, from: 0, until: html.length };
  new Copy({ model, elements: new PageElements(model), keeps }, root, stretch).run();
  removePermalinks(root);
  return root;
}

const isTitle = named("H1 H2 H3 H4 H5 H6 DT CAPTION");
const isImage = named("IMG");

/** Removes the links from headings to themselves; they are tools of the site, not text. */
function removePermalinks(root: ContentElement): void {
  for (const link of findAll(root, named("A"))) {
    const isSign = link.getAttribute("href")?.includes("#") && PERMALINK_SIGN.test(textOf(link));
    if (isSign && !find(link, isImage) && ancestorWhere(link, MAX_DEPTH, isTitle)) link.remove();
  }
}

type CopyContext = {
  readonly model: PageModel;
  readonly elements: PageElements;
  /** Tells whether an element is copied with its content; null copies all. */
  readonly keeps: ((element: number) => boolean) | null;
};

/** Elements and the place in the page that they take: up to the second number of each, which is excluded. */
type Stretch = Readonly<Record<"first" | "end" | "from" | "until", number>>;

/** Below this depth only texts are kept, separated where they are blocks. */
const MAX_DEPTH = 240;

/**
 * Copies elements as the page wrote them, with everything that the columns leave out, such as white space and
 * scripts. It reads the source again and puts each text into the element of the columns that it belongs to.
 */
class Copy implements TokenSink {
  readonly #context: CopyContext;
  /** The nodes of the open elements, the outermost first; those too deep have none. */
  readonly #nodes: ContentElement[];
  readonly #open: number[] = [];
  /** The offset in the page of the source that is read again. */
  readonly #offset: number;
  readonly #source: string;
  readonly #codes: Uint16Array;
  #next: number;
  readonly #end: number;
  #skippedUntil = 0;
  #entities: EntityText | null = null;

  /** Copies the elements from `first` up to `end`, from one place in the page to another. */
  constructor(context: CopyContext, into: ContentElement, { first, end, from, until }: Stretch) {
    this.#context = context;
    this.#nodes = [into];
    this.#next = first;
    this.#end = end;
    this.#offset = from;
    this.#source = context.model.html.slice(from, until);
    this.#codes = codesOf(this.#source);
  }

  run(): void {
    new Tokenizer(this.#source, this.#codes, this).run();
    this.#goTo(this.#source.length);
  }

  text(start: number, end: number, hasEntity: boolean): void {
    this.#goTo(start);
    if (this.#offset + start < this.#skippedUntil) return;
    if (!hasEntity) this.#into.appendText(this.#source.slice(start, end));
    else {
      this.#entities ??= new EntityText(this.#source, (text) => this.#into.appendText(text));
      this.#entities.text(start, end);
    }
  }

  startTag(nameStart: number, nameEnd: number): number {
    return tagAt(this.#codes, nameStart, nameEnd);
  }

  attribute(): void {}
  startTagEnd(): void {}
  endTag(): void {}

  get #into(): ContentElement {
    return this.#nodes.at(-1)!;
  }

  /** Opens and closes elements as the page does up to this place in the source. */
  #goTo(place: number): void {
    const { openStart, closeEnd } = this.#context.model;
    const at = this.#offset + place;
    for (let element = this.#next; element < this.#end && openStart[element]! <= at; element = this.#next) {
      this.#closeBefore(openStart[element]!, closeEnd);
      this.#next = this.#start(element);
    }
    this.#closeBefore(at, closeEnd);
  }

  #closeBefore(place: number, closeEnd: Int32Array): void {
    while (this.#open.length > 0 && closeEnd[this.#open.at(-1)!]! <= place) {
      const element = this.#open.pop()!;
      if (this.#open.length + 1 < this.#nodes.length) this.#nodes.pop();
      else this.#setApart(element);
    }
  }

  /** Starts an element and returns the next one. */
  #start(element: number): number {
    const { model, elements, keeps } = this.#context;
    if (keeps !== null && !keeps(element)) {
      this.#skippedUntil = model.closeEnd[element]!;
      return model.elementEnd[element]!;
    }
    const isVoid = (traitsOf(model.tag[element]!) & TagTrait.void) !== 0;
    const isDeep = this.#nodes.length > MAX_DEPTH;
    if (isDeep && !isVoid) this.#setApart(element);
    else {
      const node = elements.element(element);
      this.#into.append(node);
      if (!isVoid) this.#nodes.push(node);
    }
    if (!isVoid) this.#open.push(element);
    return element + 1;
  }

  /** Adds an empty paragraph, which ends the previous one. */
  #setApart(element: number): void {
    const isBlock = (traitsOf(this.#context.model.tag[element]!) & TagTrait.block) !== 0;
    if (isBlock) this.#into.append(new ContentElement("P"));
  }
}

/** The parts of a page that are assembled into a tree. */
type ChosenContent = {
  /** The elements of the page that are kept whole. */
  readonly wholes: WholeElements;
  /** The chosen blocks, in page order. */
  readonly blocks: ArrayLike<number>;
  readonly pictures: Pictures;
};

/** The elements whose block is a paragraph of its own. */
const PARAGRAPH_LIKE = tagsNamed(
  "p h1 h2 h3 h4 h5 h6 li dt dd caption td th blockquote pre figcaption summary address",
);
/** These elements contain only phrases, so no paragraph fits inside. */
const PHRASE_HOLDERS = tagsNamed("p h1 h2 h3 h4 h5 h6 dt summary pre caption figcaption address");
/** Nobody looks for the block of a medium through more phrases. */
const MAX_PHRASES = 32;
const CELLS = tagsNamed("td th");
const AMPERSAND = 38;
const TAG = /^\s*<[a-z!/]/i;
const ESCAPED_NOSCRIPT = /^\s*<noscript[\s>][\s\S]*<\/noscript>\s*$/i;

/**
 * Builds a tree of the chosen blocks inside their meaningful ancestors (tables, lists, quotations, links), with the
 * images and line breaks between them. Blocks without such an ancestor become paragraphs.
 */
export const treeOfContent = (content: ChosenContent): ContentElement => new ContentWalk(content).run();

class ContentWalk {
  readonly #content: ChosenContent;
  readonly #model: PageModel;
  readonly #elements: PageElements;
  readonly #root = new ContentElement("BODY");
  /** The innermost open element. */
  #at = this.#root;
  /** For each element, the innermost meaningful element that is it or contains it; -1 for none. */
  readonly #frame: Int32Array;
  readonly #wholes: WholeElements;
  #lastWhole = -1;
  /** The open elements, and `-block - 1` for the paragraph made for a block. */
  readonly #stack: number[] = [];
  #nextMedia = 0;
  #lastMedium = -1;
  /** The innermost meaningful element around the block before. */
  #lastHolder = -1;
  /** For each open row, the element from which its next cell is searched. */
  readonly #nextCell = new Map<number, number>();

  constructor(content: ChosenContent) {
    const { model } = content.wholes;
    this.#content = content;
    this.#model = model;
    this.#elements = new PageElements(model);
    this.#frame = framesOf(model);
    this.#wholes = content.wholes;
    content.pictures.begin();
  }

  run(): ContentElement {
    const { blocks } = this.#content;
    for (let index = 0; index < blocks.length; index++) {
      this.#mediaBetween(index === 0 ? -1 : blocks[index - 1]!, blocks[index]!);
      this.#block(blocks[index]!);
    }
    if (blocks.length > 0) this.#mediaBetween(blocks[blocks.length - 1]!, this.#model.blocks.count);
    this.#align([]);
    return this.#root;
  }

  #block(block: number): void {
    const { blocks, textParent, textStart, media, openStart } = this.#model;
    this.#separate(block);
    const first = blocks.firstText[block]!;
    for (let text = first; text < blocks.endText[block]!; text++) {
      for (; text > first && this.#nextMedia < media.length; this.#nextMedia++) {
        const element = media[this.#nextMedia]!;
        if (openStart[element]! >= textStart[text]!) break;
        this.#medium(element, block);
      }
      if (this.#wholeOf(text, block) || this.#isNoText(text, block)) continue;
      const chain = this.#chain(textParent[text]!, block);
      if (text > first && this.#model.gaps.has(text)) this.#gapBefore(chain);
      this.#align(chain);
      if (text > first && this.#model.lineStarts.has(text)) this.#at.appendText("\n");
      this.#at.appendText(textAt(this.#model, text));
    }
  }

  /** Puts a blank line between two blocks of one element that have no paragraphs of their own. */
  #separate(block: number): void {
    const owner = this.#model.blocks.element[block]!;
    const holder = this.#frame[owner] ?? -1;
    if (holder >= 0 && holder === this.#lastHolder) {
      const chain = this.#chain(owner, block);
      if (chain.at(-1) === holder) {
        this.#align(chain);
        this.#at.append(new ContentElement("BR"), new ContentElement("BR"));
      }
    }
    this.#lastHolder = holder;
  }

  /** Tells whether a text is what no browser shows as text: a tag in `<noscript>`, or a switch behind a heading. */
  #isNoText(text: number, block: number): boolean {
    const { textParent, tag, html, textStart, textEnd, blocks } = this.#model;
    const holder = textParent[text]!;
    if (tag[holder] === Tag.noscript) return TAG.test(textAt(this.#model, text));
    if (tag[holder] === Tag.button && (blocks.flags[block]! & ElementFlag.heading) !== 0)
      return BARE_TOOL.test(html.slice(textStart[text]!, textEnd[text]!));
    // In code it is what the text is about.
    const isEscaped = holder === blocks.element[block] && html.charCodeAt(textStart[text]!) === AMPERSAND;
    return isEscaped && ESCAPED_NOSCRIPT.test(textAt(this.#model, text));
  }

  // The gap is put between two elements, not inside one of them: neither a link nor emphasis begins with a space.
  #gapBefore(chain: readonly number[]): void {
    const end = chain.findIndex((element, level) => element !== this.#stack[level]);
    this.#align(end < 0 ? chain : chain.slice(0, end));
    this.#at.appendText(" ");
  }

  /** Adds the whole element that a text stands in, once; returns false when it stands in none. */
  #wholeOf(text: number, block: number): boolean {
    const { textParent, blocks, parent, closeEnd, media, openStart } = this.#model;
    const whole = this.#wholes.around(textParent[text]!);
    if (whole < 0) return false;
    if (whole === this.#lastWhole) return true;
    this.#lastWhole = whole;
    const isPhrase = !isInside(this.#model, blocks.element[block]!, whole);
    this.#align(this.#chain(parent[whole]!, isPhrase ? block : null));
    this.#copy(whole, whole);
    const end = closeEnd[whole]!;
    while (this.#nextMedia < media.length && openStart[media[this.#nextMedia]!]! < end) this.#nextMedia++;
    return true;
  }

  /** Returns the elements that must be open around something in `parent`, the outermost first. */
  #chain(parent: number, block: number | null): number[] {
    const { blocks, parent: parents, tag } = this.#model;
    const owner = block === null ? -1 : blocks.element[block]!;
    const isParagraph = this.#frame[owner] === owner && PARAGRAPH_LIKE.has(tag[owner]!);
    const needsParagraph = block !== null && !isParagraph;
    const chain: number[] = [];
    let isPlaced = !needsParagraph;
    for (let frame = this.#frame[parent] ?? -1; frame >= 0; frame = this.#frame[parents[frame]!] ?? -1) {
      // Ancestors have smaller numbers, so this one is outside the owner, and the paragraph goes inside it.
      if (!isPlaced && frame <= owner) {
        if (!PHRASE_HOLDERS.has(tag[frame]!)) chain.push(-block! - 1);
        isPlaced = true;
      }
      chain.push(frame);
    }
    if (!isPlaced) chain.push(-block! - 1);
    return chain.reverse();
  }

  /** Closes and opens elements until exactly these are open. */
  #align(chain: readonly number[]): void {
    const stack = this.#stack;
    let common = 0;
    while (common < stack.length && stack[common] === chain[common]) common++;
    while (stack.length > common) {
      const element = stack.pop()!;
      // Empty cells keep the others in their columns.
      if (element >= 0 && this.#model.tag[element] === Tag.tr)
        this.#emptyCells(element, Number.POSITIVE_INFINITY);
      this.#at = this.#at.parent ?? this.#root;
    }
    for (; common < chain.length; common++) {
      const element = chain[common]!;
      if (element >= 0 && CELLS.has(this.#model.tag[element]!)) this.#emptyCellsBefore(element);
      stack.push(element);
      const opened = element < 0 ? new ContentElement("P") : this.#elements.element(element);
      this.#at.append(opened);
      this.#at = opened;
    }
  }

  #emptyCellsBefore(cell: number): void {
    const row = this.#model.parent[cell]!;
    if (row < 0) return;
    this.#emptyCells(row, cell);
    this.#nextCell.set(row, this.#model.elementEnd[cell]!);
  }

  /** Adds the empty cells of a row up to an element. */
  #emptyCells(row: number, until: number): void {
    const { tag, elementEnd } = this.#model;
    const end = Math.min(until, elementEnd[row]!);
    for (let other = this.#nextCell.get(row) ?? row + 1; other < end; other = elementEnd[other]!) {
      if (!CELLS.has(tag[other]!)) continue;
      this.#at.append(this.#elements.element(other));
    }
  }

  /** Adds the media between two chosen blocks, unless something between them was refused. */
  #mediaBetween(previous: number, block: number): void {
    const { media, openStart, textStart, textEnd, blocks, tag } = this.#model;
    const from = previous < 0 ? -1 : textEnd[blocks.endText[previous]! - 1]!;
    const until = block < blocks.count ? textStart[blocks.firstText[block]!]! : this.#model.html.length;
    for (; this.#nextMedia < media.length; this.#nextMedia++) {
      const element = media[this.#nextMedia]!;
      const start = openStart[element]!;
      if (start >= until) return;
      if (start < from || tag[element] === Tag.br) continue;
      if (this.#content.pictures.isContent(element, previous, block))
        this.#medium(element, this.#blockAround(element, previous, block));
    }
  }

  /** Returns the block that a medium before or after its text belongs to; null when it stands alone. */
  #blockAround(element: number, previous: number, block: number): number | null {
    const { blocks, parent, tag } = this.#model;
    if ((traitsOf(tag[element]!) & TagTrait.block) !== 0) return null;
    let owner = parent[element]!;
    for (let step = 0; step < MAX_PHRASES && owner >= 0; step++, owner = parent[owner]!)
      if ((traitsOf(tag[owner]!) & TagTrait.block) !== 0) break;
    if (owner < 0) return null;
    if (previous >= 0 && blocks.element[previous] === owner) return previous;
    return block < blocks.count && blocks.element[block] === owner ? block : null;
  }

  /** Adds the formula or code that a medium stands in; returns false when it stands in none. */
  #isPartOfWhole(element: number, block: number | null): boolean {
    const whole = this.#wholes.around(element);
    if (whole < 0) return false;
    if (whole === this.#lastWhole) return true;
    this.#lastWhole = whole;
    this.#align(this.#chain(this.#model.parent[whole]!, block));
    this.#copy(whole, whole);
    return true;
  }

  #medium(element: number, block: number | null): void {
    const { tag, flags, parent } = this.#model;
    const kind = tag[element]!;
    const around = parent[element]!;
    if ((flags[element]! & ElementFlag.hidden) !== 0) return;
    if (around >= 0 && (flags[around]! & ElementFlag.textless) !== 0) return;
    if (kind !== Tag.img && this.#isPartOfWhole(element, block)) return;
    // A picture has several sources but shows one image.
    const shown = kind === Tag.img && around >= 0 && tag[around] === Tag.picture ? around : element;
    if (shown === this.#lastMedium) return;
    this.#lastMedium = shown;
    this.#align(this.#chain(parent[shown]!, block));
    // The sources of a picture are included, and nothing that a page may have left inside it.
    this.#copy(shown, element);
  }

  /** Copies the elements from one to another, which is the same or inside it, with all that the page wrote there. */
  #copy(first: number, last: number): void {
    const { tag, elementEnd, openStart, closeEnd } = this.#model;
    if ((traitsOf(tag[first]!) & TagTrait.void) !== 0) {
      this.#at.append(this.#elements.element(first));
      return;
    }
    const stretch = { first, end: elementEnd[last]!, from: openStart[first]!, until: closeEnd[last]! };
    new Copy({ model: this.#model, elements: this.#elements, keeps: null }, this.#at, stretch).run();
  }
}

// The elements that mean something to a reader; all others only contain these.
const MEANINGFUL = tagsNamed(
  `p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption thead tbody tfoot tr td th blockquote pre figure
   figcaption details summary address a b strong i em u s del ins mark small sub sup code kbd samp var q cite
   abbr time dfn bdi bdo ruby rt rp label`,
);
// The elements whose class may tell what they contain: an admonition, footnotes, a task.
const CLASSED = tagsNamed("div span section article aside main header footer hgroup");
/** Deeper levels add nothing visible. */
const MAX_FRAMES = 120;

/** Finds for each element the innermost meaningful element, itself included; -1 for none. */
function framesOf(model: PageModel): Int32Array {
  const { elementCount, parent, tag, flags } = model;
  const frame = new Int32Array(elementCount);
  const depth = new Uint8Array(elementCount);
  for (let element = 0; element < elementCount; element++) {
    const above = parent[element]!;
    const outer = above < 0 ? -1 : frame[above]!;
    const outerDepth = outer < 0 ? 0 : depth[outer]!;
    const kind = tag[element]!;
    // `<a name>` only marks a place, and a link without a target, which an application follows by script, leads
    // nowhere.
    const isMeaningful =
      MEANINGFUL.has(kind) && (kind !== Tag.a || (flags[element]! & ElementFlag.link) !== 0);
    const isFrame = outerDepth < MAX_FRAMES && (isMeaningful || saysByName(model, element));
    frame[element] = isFrame ? element : outer;
    if (isFrame) depth[element] = outerDepth + 1;
  }
  return frame;
}

const PANEL_GROUP = 1 << 23;

const PHRASES = tagsNamed("span font");
const EMPHASIS = /\sstyle\s*=[^>]{0,300}font-(?:weight|style)/i;

function saysByName(model: PageModel, element: number): boolean {
  const { tag, parent, classId, idId, groups, html, openStart } = model;
  const kind = tag[element]!;
  if (PHRASES.has(kind) && EMPHASIS.test(startTagOf(model, element, 500))) return true;
  // A list of sections is a page layout.
  if (kind === Tag.section && tag[parent[element]!] === Tag.li) return true;
  if (CLASSED.has(kind))
    return classId[element] !== 0 || idId[element] !== 0 || (groups[element]! & PANEL_GROUP) !== 0;
  return kind >= FIRST_UNKNOWN_TAG && html.startsWith("<starlight-tabs", openStart[element]);
}
