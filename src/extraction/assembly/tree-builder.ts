import {
  type AttributeSource,
  ancestorWhere,
  ContentElement,
  find,
  findAll,
  named,
  textOf,
  wordsOfClass,
} from "../document/tree.ts";
import {
  ElementFlag,
  FIRST_UNKNOWN_TAG,
  type PageModel,
  Tag,
  TagTrait,
  tagAt,
  tagName,
  textAt,
  traitsOf,
} from "../page/page-model.ts";
import { scanPage } from "../page/scan.ts";
import { codesOf, decodeAttribute, EntityText } from "../page/source-text.ts";
import { Tokenizer, type TokenSink } from "../page/tokenizer.ts";
import { PERMALINK_SIGN } from "../text.ts";
import { WholeElements } from "./whole-elements.ts";

/** Builds a tree from pieces of a page that are well nested and in page order. */
export class TreeBuilder {
  readonly root = new ContentElement("BODY");
  readonly #model: PageModel;
  readonly #elements: PageElements;
  #at = this.root;

  constructor(model: PageModel) {
    this.#model = model;
    this.#elements = new PageElements(model);
  }

  /** @param element number in the model; below zero for a paragraph that the page does not have */
  open(element: number): void {
    const opened = element < 0 ? new ContentElement("P") : this.#elements.element(element);
    this.#at.append(opened);
    this.#at = opened;
  }

  close(): void {
    this.#at = this.#at.parent ?? this.root;
  }

  /** @param text number in the model */
  text(text: number): void {
    this.#at.appendText(textAt(this.#model, text));
  }

  /** Separates two words, or two lines of preformatted text, that only a style separates. */
  separate(sign: " " | "\n"): void {
    this.#at.appendText(sign);
  }

  /** Adds an image, line break, rule, check box, formula or embedded piece. */
  media(element: number): void {
    const { parent, tag } = this.#model;
    const around = parent[element]!;
    // The sources of a picture are included, and nothing that a page may have left inside it.
    const isInPicture = tag[element] === Tag.img && around >= 0 && tag[around] === Tag.picture;
    this.#copy(isInPicture ? around : element, element);
  }

  /** Adds an element with everything that the page wrote into it. */
  whole(element: number): void {
    this.#copy(element, element);
  }

  /** Copies the elements from one to another, which is the same or inside it. */
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

type Stretch = {
  readonly first: number;
  readonly end: number;
  readonly from: number;
  readonly until: number;
};

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
  /** The numbers of the open elements. */
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

const UPPER_NAMES: readonly string[] = Array.from({ length: FIRST_UNKNOWN_TAG }, (_, tag) =>
  tagName(tag).toUpperCase(),
);

// Matches a start tag after its name, piece by piece. The first character of an attribute's name may be any.
const ATTRIBUTE =
  /([^ \t\n\r\f/>][^ \t\n\r\f/>=]*)(?:[ \t\n\r\f]*=[ \t\n\r\f]*(?:"([^"]*)"|'([^']*)'|([^ \t\n\r\f>]*)))?/g;

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

/** Gives the elements of a page to a content tree. */
class PageElements implements AttributeSource {
  readonly #model: PageModel;
  /** The words of each class by its number, for those that were asked for. */
  readonly #classes: (readonly string[] | undefined)[] = [];

  /** The attributes of the element that was read last. */
  #attributes = NO_ATTRIBUTES;
  #last = -1;

  constructor(model: PageModel) {
    this.#model = model;
  }

  element(number: number): ContentElement {
    return new ContentElement(this.#nameOf(number), this, number);
  }

  classOf(number: number): string {
    return this.#model.names[this.#model.classId[number]!] ?? "";
  }

  idOf(number: number): string {
    return this.#model.names[this.#model.idId[number]!] ?? "";
  }

  classesOf(number: number): readonly string[] {
    const id = this.#model.classId[number]!;
    this.#classes[id] ??= wordsOfClass(this.#model.names[id] ?? "");
    return this.#classes[id];
  }

  attributeOf(number: number, name: string): string | null {
    // Readers ask one element several things in a row; keeping all attributes took 100 MB for 120 000 links.
    if (number !== this.#last) {
      this.#attributes = this.#read(number);
      this.#last = number;
    }
    const written = this.#attributes.get(name);
    if (written === undefined) return null;
    return written.includes("&") ? decodeAttribute(written) : written;
  }

  /** Reads the attributes of a start tag as the page wrote them. */
  #read(number: number): ReadonlyMap<string, string> {
    const { html, openStart, openEnd } = this.#model;
    const tag = html.slice(openStart[number]! + 1, openEnd[number]);
    const start = nameLength(tag);
    if (start + 1 >= tag.length) return NO_ATTRIBUTES;
    const attributes = new Map<string, string>();
    ATTRIBUTE.lastIndex = start;
    for (let match = ATTRIBUTE.exec(tag); match; match = ATTRIBUTE.exec(tag)) {
      const name = match[1]!.toLowerCase();
      // The first of two attributes with the same name counts, as in browsers.
      if (!attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? "");
    }
    return attributes;
  }

  #nameOf(number: number): string {
    const { tag, html, openStart, openEnd } = this.#model;
    const known = tag[number]!;
    if (known > 0 && known < FIRST_UNKNOWN_TAG) return UPPER_NAMES[known]!;
    const source = html.slice(openStart[number]! + 1, openEnd[number]);
    return source.slice(0, nameLength(source)).toUpperCase();
  }
}

/** Returns the length of a start tag's name. */
function nameLength(tag: string): number {
  const end = tag.search(/[ \t\n\r\f/>]/);
  return end < 0 ? tag.length : end;
}
