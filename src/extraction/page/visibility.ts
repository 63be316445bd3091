import { Field, type StartTagAttributes } from "./attributes.ts";
import {
  ElementFlag,
  FIRST_UNKNOWN_TAG,
  TAG_LIMIT,
  Tag,
  TagTrait,
  tagName,
  tagsNamed,
  traitsOf,
} from "./page-model.ts";
import { TextTable } from "./source-text.ts";
import {
  hidesBox,
  hidesByOpacity,
  isBox,
  isIndentedAway,
  lengthOf,
  paintOf,
  samePaint,
} from "./style-effects.ts";
import { isTelling, NO_RULES, type Style, StyleRules, styleOf } from "./style-rules.ts";

const PANEL_GROUPS = 1 << 23;
const MAX_CONTROLS = 2000;
// React streams late parts of a page in hidden elements with such ids and moves them to their place at once.
const STREAMED_ID = /^S:[0-9a-f]+$/;
// The class names that common style sheets give to text for screen readers alone.
const SCREEN_READER_CLASS =
  /(?:^|\s)(?:sr-only|screen-reader-text|visually-?hidden|assistive-text|a11y-hidden)(?:\s|$)/i;

/** An element with its names, as texts and as numbers of the page. */
type NamedElement = {
  readonly element: number;
  /** The number of its parent; -1 for none. */
  readonly parent: number;
  readonly tag: number;
  readonly classes: string;
  readonly classId: number;
  /** The groups of its class, id and role, see `groupsOf`. */
  readonly groups: number;
  /** Nothing visible stands between this element and a button before it. */
  readonly isAfterToggle: boolean;
};

/** Tells by its attributes whether an element opens something, such as the head of an accordion or a tab. */
export function opensSomething(attributes: StartTagAttributes): boolean {
  if (attributes.has(Field.expanded)) return true;
  const role = attributes.get(Field.role);
  return role === "button" || role === "tab";
}

/**
 * Which hidden text counts as shown: none, what has no opacity, also what is invisible but keeps its space, or all of
 * it. Each includes those before.
 */
export const Revealed = { nothing: 0, faded: 1, invisible: 2, all: 3 } as const;

/** How an element and those inside it are shown. */
type State = {
  /** The flags that nothing inside the element undoes. */
  readonly lasting: number;
  /** Whether it has no opacity, as scripts leave it that fade it in. */
  readonly isFaded: boolean;
  /** The flags of invisible and of indented text; elements inside can be shown. */
  readonly invisible: number;
  readonly isIndented: boolean;
  /** px */
  readonly fontSize: number;
  /** The colours; null where only a browser knows. */
  readonly colour: string | null;
  readonly background: string | null;
  /** Whether its children are boxes, whatever their elements. */
  readonly holdsBoxes: boolean;
};

/** Smaller letters cannot be read, px. */
const LEAST_FONT_SIZE = 3;
/** Elements whose letters have a colour of their own in every browser. */
const COLOURED = tagsNamed("a mark button input select textarea");
const REPLACED = tagsNamed("img picture video iframe svg");
const ROOTS = tagsNamed("html body");

/** Tells which elements the page hides, and which of those the reader can open. */
export class Visibility {
  readonly #html: string;
  readonly #controlled = new Set<string>();
  readonly #rules: StyleRules;
  /** The inline styles of the page, and for each number whether the style may say something. */
  readonly #inline: TextTable;
  readonly #inlineTells: boolean[] = [false];
  readonly #root: State;
  /** The state of each element by its number. */
  readonly #states: State[] = [];
  /** The styles by the numbers of the classes, the inline style and the tag. */
  readonly #styles = new Map<number, Style>();
  /** Whether a rule can hide an element, by the numbers of the classes and the tag. */
  readonly #hiding = new Map<number, boolean>();
  /** The styles that change nothing in an element that is shown. */
  readonly #inert = new Set<Style>();
  readonly #isForScreenReaders: boolean[] = [false];
  readonly #linksSheets: boolean;
  readonly #hasTicked: boolean;
  /** Whether scripts or animations of linked style sheets can show what the page hides at first. */
  readonly canChange: boolean;
  readonly #revealed: number;
  /** The number of outermost elements that have no opacity. */
  fadedCount = 0;

  constructor(html: string, codes: Uint16Array, revealed: number) {
    this.#html = html;
    this.#inline = new TextTable(html, codes);
    this.#revealed = revealed;
    this.#linksSheets = html.includes("stylesheet");
    this.canChange = this.#linksSheets || SCRIPT.test(html);
    this.#rules = new StyleRules(html, !this.canChange);
    this.#hasTicked = !this.#rules.siblings.isEmpty && TICKED.test(html);
    // Only a page without anything else shows black on white for certain.
    const isPlain = !this.canChange && !html.includes("color-scheme");
    this.#root = { ...SHOWN, colour: isPlain ? "0,0,0" : null, background: isPlain ? "255,255,255" : null };
  }

  /** Notes the ids that a button or link opens. */
  control(ids: string): void {
    if (this.#controlled.size >= MAX_CONTROLS) return;
    for (const id of ids.split(/\s+/)) this.#controlled.add(id.replace(/^#/, ""));
    this.#controlled.delete("");
  }

  /** Returns `ElementFlag.hidden`, `ElementFlag.panel` for what readers can open, or 0, of an element and all around it. */
  flagsOf(attributes: StartTagAttributes, named: NamedElement): number {
    if (this.#revealed === Revealed.all) return 0;
    const { element, parent, tag } = named;
    const outer = this.#states[parent] ?? this.#root;
    const state = this.#stateIn(outer, attributes, named);
    this.#states[element] = state;
    return state === this.#root ? 0 : flagsIn(state, tag);
  }

  /** Tells whether an element is hidden by its opacity. */
  isFaded(element: number): boolean {
    return this.#states[element]?.isFaded ?? false;
  }

  #stateIn(outer: State, attributes: StartTagAttributes, named: NamedElement): State {
    const { tag, classes, classId } = named;
    const inline = attributes.has(Field.style) ? this.#inlineNumber(attributes) : 0;
    const isClosed = isClosedBy(tag, attributes);
    const isAfterCloser = this.#isClosedBySibling(attributes, named);
    const style = this.#styleOf(attributes, named, { inline, isInert: outer === this.#root && !isClosed });
    this.#isForScreenReaders[classId] ??= SCREEN_READER_CLASS.test(classes);
    const isNothing = style.size === 0 || (outer === this.#root && this.#inert.has(style));
    const isLeftClosed = isClosed && !this.#isOpened(style, inline);
    const isClosedNow = this.#isForScreenReaders[classId]! || isAfterCloser || isLeftClosed;
    if (isNothing && !isClosedNow && !hasColour(attributes)) return inside(outer, tag);
    return this.#changed(outer, attributes, named, { style, isClosed: isClosedNow });
  }

  #isClosedBySibling(
    attributes: StartTagAttributes,
    { element, parent, tag, classes }: NamedElement,
  ): boolean {
    // A box that is ticked at first opens what stands behind it, as tabs without scripts do.
    if (this.#rules.siblings.isEmpty || this.#hasTicked) return false;
    const id = attributes.get(Field.id);
    const names = namesOf(tag, classes);
    const isHidden = this.#rules.siblings.hides(element, parent, id ? [...names, `#${id}`] : names);
    // A style of its own is stronger than a rule, as where a script has opened it.
    return isHidden && !SHOWS.test(attributes.get(Field.style) ?? "");
  }

  #changed(
    outer: State,
    attributes: StartTagAttributes,
    named: NamedElement,
    { style, isClosed }: { readonly style: Style; readonly isClosed: boolean },
  ): State {
    const { tag, classId } = named;
    const isNamed = this.#linksSheets && (classId !== 0 || attributes.has(Field.id));
    const painted = this.#painted(outer, attributes, style, { tag, isNamed });
    // A page hides neither itself nor what is drawn, but its own colours show on all that is in it.
    if (ROOTS.has(tag)) return { ...outer, ...painted };
    const isBoxed = isNamed || outer.holdsBoxes || isBox(style, (traitsOf(tag) & TagTrait.block) !== 0);
    const box = { isBoxed, isReplaced: REPLACED.has(tag), isNamed };
    const isGone = isClosed || style.get("display") === "none" || hidesBox(style, box);
    const mark = this.#isPanel(attributes, named) ? ElementFlag.panel : ElementFlag.hidden;
    const state = {
      ...painted,
      lasting: outer.lasting | (isGone ? mark : 0),
      ...this.#seenIn(outer, style, { tag, isBoxed, isGone, mark }),
      isIndented: style.has("text-indent") ? isBoxed && isIndentedAway(style) : outer.isIndented,
      holdsBoxes: !this.canChange && isFlexible(style),
    };
    if (outer !== this.#root || !isSame(state, outer)) return state;
    this.#inert.add(style);
    return outer;
  }

  /** Tells whether a style shows what browsers close. */
  #isOpened(style: Style, inline: number): boolean {
    return style.has("display") && (inline > 0 || !(this.#linksSheets || this.#rules.namesHidden));
  }

  #seenIn(
    outer: State,
    style: Style,
    {
      tag,
      isBoxed,
      isGone,
      mark,
    }: Readonly<Record<"tag" | "mark", number> & Record<"isBoxed" | "isGone", boolean>>,
  ): Pick<State, "isFaded" | "invisible"> {
    const isMain = tag === Tag.main;
    const isFaded = this.#revealed < Revealed.faded && !isMain && this.#fades(style, isBoxed, tag);
    if (isFaded && !isGone && !outer.isFaded && outer.lasting === 0) this.fadedCount++;
    const seen = style.get("visibility") ?? "inherit";
    const hides = this.#revealed < Revealed.invisible && !isMain && /^(?:hidden|collapse)$/.test(seen);
    const otherwise = seen === "inherit" ? outer.invisible : 0;
    return { isFaded: outer.isFaded || isFaded, invisible: hides ? mark : otherwise };
  }

  /** The number of the style attribute; 0 where it says nothing. */
  #inlineNumber(attributes: StartTagAttributes): number {
    const number = this.#inline.numberAt(attributes.startOf(Field.style), attributes.endOf(Field.style));
    this.#inlineTells[number] ??= isTelling(attributes.get(Field.style)!);
    return this.#inlineTells[number] ? number : 0;
  }

  #canHide(attributes: StartTagAttributes, { tag, classes, classId }: NamedElement): boolean {
    if (this.#rules.isEmpty) return false;
    if (attributes.has(Field.id) && this.#rules.has(`#${attributes.get(Field.id)}`)) return true;
    const key = classId * TAG_LIMIT + tag;
    let known = this.#hiding.get(key);
    if (known === undefined) {
      known = this.#rules.canHide(namesOf(tag, classes));
      this.#hiding.set(key, known);
    }
    return known;
  }

  // Pages repeat their names and styles, and a lookup is cheaper than a cascade.
  #styleOf(
    attributes: StartTagAttributes,
    named: NamedElement,
    { inline, isInert }: { readonly inline: number; readonly isInert: boolean },
  ): Style {
    // When everything around an element is shown, only rules that hide matter.
    const hasRules = !this.#rules.isEmpty && !(isInert && inline === 0 && !this.#canHide(attributes, named));
    if (!hasRules && inline === 0) return NO_STYLE;
    const { tag, classId } = named;
    const id = attributes.has(Field.id) ? `#${attributes.get(Field.id)}` : "";
    const isOwn = inline >= MAX_INLINE || (hasRules && id !== "" && this.#rules.has(id));
    if (isOwn) return this.#cascade(attributes, named, { id, inline });
    const key = (classId * MAX_INLINE + inline) * TAG_LIMIT + tag;
    let style = this.#styles.get(key);
    if (style === undefined) {
      style = this.#cascade(attributes, named, { id, inline });
      this.#styles.set(key, style);
    }
    return style;
  }

  #cascade(
    attributes: StartTagAttributes,
    { tag, classes }: NamedElement,
    { id, inline }: { readonly id: string; readonly inline: number },
  ): Style {
    const rules = this.#rules.rulesOf([...namesOf(tag, classes), id], this.canChange);
    if (rules === NO_RULES && inline === 0) return NO_STYLE;
    return styleOf(rules, inline === 0 ? "" : attributes.get(Field.style)!);
  }

  /** The size and the colours of letters. */
  #painted(
    outer: State,
    attributes: StartTagAttributes,
    style: Style,
    { tag, isNamed }: { readonly tag: number; readonly isNamed: boolean },
  ): Pick<State, "fontSize" | "colour" | "background"> {
    const colour = colourOf(COLOURED.has(tag) ? null : outer.colour, attributes, style);
    const size = style.get("font-size");
    const own = style.get("background-color") ?? attributes.get(Field.bgcolor) ?? CLEAR;
    const paint = own === "currentcolor" ? colour : paintOf(own);
    const isLoose = isNamed || /absolute|fixed/.test(style.get("position") ?? "");
    const behind = paint === CLEAR && !isLoose ? outer.background : paint === CLEAR ? null : paint;
    const background = (style.get("background-image") ?? "none") === "none" ? behind : null;
    return {
      fontSize: size === undefined ? outer.fontSize : sizeIn(size, outer.fontSize),
      colour,
      background,
    };
  }

  /** Tells whether an element has no opacity, and no sign that it is about to have some. */
  #fades(style: Style, isBoxed: boolean, tag: number): boolean {
    if (!hidesByOpacity(style, isBoxed)) return false;
    const animation = style.get("animation") ?? style.get("animation-name") ?? "none";
    if (!/^none\b/.test(animation) && this.#html.includes("@keyframes")) return false;
    const transform = style.get("transform") ?? "none";
    const moves = transform !== "none" && !/scale(?:3d|x|y)?\(\s*0*\.?0*\s*[,)]/.test(transform);
    const isReady = moves || style.has("transition") || style.has("will-change") || style.has("filter");
    return !(this.canChange && (isReady || REPLACED.has(tag)));
  }

  #isPanel(attributes: StartTagAttributes, { groups, isAfterToggle }: NamedElement): boolean {
    return (
      isAfterToggle ||
      (groups & PANEL_GROUPS) !== 0 ||
      attributes.get(Field.role) === "tabpanel" ||
      attributes.get(Field.hidden) === "until-found" ||
      this.#controlled.has(attributes.get(Field.id) ?? "")
    );
  }
}

const SCRIPT = /<script(?![^>]{0,300}json)/i;
const NO_STYLE: Style = new Map();
const CLEAR = "transparent";

const MAX_INLINE = 1 << 20;
const TICKED = /<input[^>]{0,300}\schecked(?=[\s=>/])/i;
const SHOWS = /(?:^|[;\s])(?:display\s{0,9}:\s{0,9}(?!none)[a-z]|visibility\s{0,9}:\s{0,9}visible)/i;

const isFlexible = (style: Style): boolean => /flex|grid/.test(style.get("display") ?? "");

const namesOf = (tag: number, classes: string): readonly string[] => [
  tag < FIRST_UNKNOWN_TAG ? tagName(tag) : "",
  ...(classes === "" ? [] : classes.split(/\s+/).map((name) => `.${name}`)),
];

const isSame = (one: State, other: State): boolean =>
  (Object.keys(other) as (keyof State)[]).every((field) => one[field] === other[field]);

const SHOWN: State = {
  lasting: 0,
  isFaded: false,
  invisible: 0,
  isIndented: false,
  fontSize: 16,
  colour: null,
  background: null,
  holdsBoxes: false,
};

const hasColour = (attributes: StartTagAttributes): boolean =>
  attributes.has(Field.color) || attributes.has(Field.bgcolor);

/** The colour of letters. Those that are cut out of their background, or have a shadow, show where they have none. */
function colourOf(outer: string | null, attributes: StartTagAttributes, style: Style): string | null {
  if (style.get("background-clip")?.includes("text") || style.has("text-shadow")) return null;
  const fill = style.get("-webkit-text-fill-color") ?? style.get("color") ?? attributes.get(Field.color);
  return fill === null || fill === "inherit" ? outer : paintOf(fill);
}

function inside(outer: State, tag: number): State {
  if (outer.lasting !== 0 || !(outer.holdsBoxes || (outer.colour !== null && COLOURED.has(tag))))
    return outer;
  return { ...outer, colour: COLOURED.has(tag) ? null : outer.colour, holdsBoxes: false };
}

function flagsIn(state: State, tag: number): number {
  const flags = state.lasting | state.invisible | (state.isFaded ? ElementFlag.hidden : 0);
  if (REPLACED.has(tag)) return flags;
  const isUnread =
    state.isIndented ||
    state.fontSize < LEAST_FONT_SIZE ||
    (state.colour !== null && (state.colour === CLEAR || samePaint(state.colour, state.background)));
  return isUnread ? flags | ElementFlag.hidden : flags;
}

/** Tells whether browsers show an element only when something opens it. */
function isClosedBy(tag: number, attributes: StartTagAttributes): boolean {
  if (attributes.has(Field.hidden)) return !STREAMED_ID.test(attributes.get(Field.id) ?? "");
  return attributes.has(Field.popover) || (tag === Tag.dialog && !attributes.has(Field.open));
}

/** The size of letters in px; a usual one where only a browser knows. */
function sizeIn(size: string, outer: number): number {
  if (size === "inherit") return outer;
  const relative = /^(\d{0,9}\.?\d{1,9})(em|%)$/.exec(size);
  if (relative) return Number(relative[1]) * outer * (relative[2] === "%" ? 0.01 : 1);
  const length = lengthOf(size);
  return Number.isNaN(length) ? SHOWN.fontSize : length;
}
