import { nextMatch } from "../text.ts";
import { Field, type StartTagAttributes } from "./attributes.ts";
import { ElementFlag } from "./page-model.ts";
import { TextTable } from "./source-text.ts";
import { isWhiteSpace } from "./word-stats.ts";

const PANEL_GROUPS = 1 << 23;
const MAX_CONTROLS = 2000;
// React streams late parts of a page in hidden elements with such ids and moves them to their place at once.
const STREAMED_ID = /^S:[0-9a-f]+$/;

/** The names of an element, as numbers of the page. */
type NamedElement = {
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

/** Which hidden text counts as shown; `invisible` is text that inline styles hide but that keeps its space. */
export type Revealed = "nothing" | "invisible" | "all";

/** Tells which elements the page hides, and which of those the reader can open. */
export class Visibility {
  readonly #controlled = new Set<string>();
  readonly #names = new HiddenNames();
  /** The inline styles of the page, and for each number whether the style hides. */
  readonly #styles: TextTable;
  readonly #hidingStyles: boolean[] = [false];

  readonly #revealed: Revealed;

  constructor(html: string, codes: Uint16Array, revealed: Revealed) {
    this.#styles = new TextTable(html, codes);
    this.#revealed = revealed;
  }

  /** Reads a style sheet of the page. */
  read(sheet: string): void {
    this.#names.read(sheet);
  }

  /** Notes the ids that a button or link opens. */
  control(ids: string): void {
    if (this.#controlled.size >= MAX_CONTROLS) return;
    for (const id of ids.split(/\s+/)) this.#controlled.add(id.replace(/^#/, ""));
    this.#controlled.delete("");
  }

  /** Returns `ElementFlag.hidden`, `ElementFlag.panel` for what readers can open, or 0. */
  flagsOf(attributes: StartTagAttributes, { classes, classId, groups, isAfterToggle }: NamedElement): number {
    if (this.#revealed === "all") return 0;
    const isHidden =
      (attributes.has(Field.hidden) && !isStreamed(attributes)) ||
      (attributes.has(Field.style) && this.#hidesByStyle(attributes)) ||
      this.#names.hidesClass(classes, classId) ||
      (this.#names.hidesIds && attributes.has(Field.id) && this.#names.hidesId(attributes.get(Field.id)!));
    if (!isHidden) return 0;
    const isPanel = isAfterToggle || (groups & PANEL_GROUPS) !== 0 || this.#canBeOpened(attributes);
    return isPanel ? ElementFlag.panel : ElementFlag.hidden;
  }

  #canBeOpened(attributes: StartTagAttributes): boolean {
    return (
      attributes.get(Field.role) === "tabpanel" ||
      attributes.get(Field.hidden) === "until-found" ||
      this.#controlled.has(attributes.get(Field.id) ?? "")
    );
  }

  // Pages repeat their styles, and a lookup is cheaper than three regular expressions.
  #hidesByStyle(attributes: StartTagAttributes): boolean {
    const style = this.#styles.numberAt(attributes.startOf(Field.style), attributes.endOf(Field.style));
    this.#hidingStyles[style] ??= isHidingStyle(
      attributes.get(Field.style) ?? "",
      this.#revealed === "invisible",
    );
    return this.#hidingStyles[style]!;
  }
}

const isStreamed = (attributes: StartTagAttributes): boolean =>
  STREAMED_ID.test(attributes.get(Field.id) ?? "");

// Matches inline styles that hide content from readers. Opacity is left out, because pages fade in their own content.
const HIDING_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?:px|em|rem|%)?\s*(?:!|;|$)|(?:text-indent|left|top|right|margin-left)\s*:\s*-\d{4,}|content-visibility\s*:\s*hidden|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\))/i;
const ZERO_SIDE = /(?:^|[;\s])(?:width|height|max-width|max-height)\s*:\s*[01](?:px)?\s*(?:!|;|$)/i;
const CLIPPED = /overflow(?:-[xy])?\s*:\s*(?:hidden|clip)/i;
const MAX_STYLE_LENGTH = 2000;

const INVISIBLE = /visibility\s*:\s*hidden/gi;

/**
 * Tells whether an inline style hides an element.
 * @param revealsInvisible leaves `visibility: hidden` out of account
 */
function isHidingStyle(style: string, revealsInvisible = false): boolean {
  const all = style.length > MAX_STYLE_LENGTH ? style.slice(0, MAX_STYLE_LENGTH) : style;
  const value = revealsInvisible ? all.replace(INVISIBLE, "") : all;
  return HIDING_STYLE.test(value) || (ZERO_SIDE.test(value) && CLIPPED.test(value));
}

const SIMPLE_SELECTOR = /^(?:[a-z][a-z0-9]*)?([.#])((?:[\w-]|\\:)+)$/i;
const CLASS_OR_ID = /[.#]((?:[\w-]|\\:)+)/g;
const MAX_SHEET_LENGTH = 1_000_000;
// The class names that common style sheets give to text for screen readers alone.
const SCREEN_READER_CLASS =
  /(?:^|\s)(?:sr-only|screen-reader-text|visually-?hidden|assistive-text|a11y-hidden)(?:\s|$)/i;

/**
 * The classes and ids that the page's `<style>` elements read so far hide on every screen. A name that any rule shows
 * again (`.tab{display:none} .tab.active{display:block}`) does not count: only a browser could tell which of the two
 * wins.
 */
class HiddenNames {
  readonly #classes = new Set<string>();
  readonly #ids = new Set<string>();
  readonly #shown = new Set<string>();
  /** The classes that show their elements on some screens. */
  readonly #shownOnSome = new Set<string>();
  /** The known answers by class number; emptied when another sheet is read. */
  #known: boolean[] = [];

  read(sheet: string): void {
    if (sheet.length > MAX_SHEET_LENGTH || !/display|visibility|text-indent|left|clip/.test(sheet)) return;
    const onSome = (selectors: string, declarations: string): void => {
      if (!isShowing(declarations)) return;
      for (const match of selectors.matchAll(CLASS_OR_ID)) this.#shownOnSome.add(match[1] ?? "");
    };
    forEachRule(sheet, (selectors, declarations) => this.#readRule(selectors, declarations), onSome);
    this.#known = [];
  }

  /** @param classId number of the class list on this page; 0 for none */
  hidesClass(classes: string, classId: number): boolean {
    if (classId === 0) return false;
    const known = this.#known[classId];
    if (known !== undefined) return known;
    const isHidden =
      SCREEN_READER_CLASS.test(classes) || (this.#classes.size > 0 && this.#hidesOnAll(classes.split(/\s+/)));
    this.#known[classId] = isHidden;
    return isHidden;
  }

  /** Tells whether any id is hidden. */
  get hidesIds(): boolean {
    return this.#ids.size > 0;
  }

  hidesId(id: string): boolean {
    return this.#ids.has(id) && !this.#shown.has(id);
  }

  #hidesOnAll(classes: readonly string[]): boolean {
    return (
      classes.some((name) => this.#classes.has(name) && !this.#shown.has(name)) &&
      !classes.some((name) => this.#shownOnSome.has(name.replaceAll(":", "\\:")))
    );
  }

  #readRule(selectors: string, declarations: string): void {
    const hides = isHidingStyle(declarations);
    if (!hides && !/display\s*:|visibility\s*:\s*visible/i.test(declarations)) return;
    for (const selector of selectors.split(",")) {
      if (!hides) for (const match of selector.matchAll(CLASS_OR_ID)) this.#shown.add(match[1] ?? "");
      else {
        const match = SIMPLE_SELECTOR.exec(selector.trim());
        if (match?.[2]) (match[1] === "." ? this.#classes : this.#ids).add(match[2]);
      }
    }
  }
}

const isShowing = (declarations: string): boolean =>
  /display\s*:(?!\s*none)|visibility\s*:\s*visible/i.test(declarations);

type VisitRule = (selectors: string, declarations: string) => void;

// Visits the rules of a sheet. Rules inside @media apply to some screens only: they cannot hide, but they can show.
// Other at-rules are skipped.
function forEachRule(sheet: string, visit: VisitRule, visitOnSome: VisitRule): void {
  const css = withoutComments(sheet).replace(/<!--|-->/g, "");
  let at = 0;
  /** The end of the current media query's rules; 0 outside of one. */
  let mediaEnd = 0;
  /** The next declaration that may hide or show something; most rules have none. */
  let telling = -1;
  while (at < css.length) {
    const open = css.indexOf("{", at);
    if (open < 0) return;
    if (mediaEnd > 0 && open >= mediaEnd) {
      at = mediaEnd;
      mediaEnd = 0;
      continue;
    }
    at = skipSpace(css, at);
    if (css.charCodeAt(at) === AT_SIGN) {
      const isMedia = mediaEnd === 0 && /^@media(?!\s*print)/i.test(css.slice(at, open));
      const end = skipBlock(css, open);
      if (isMedia) mediaEnd = end;
      at = isMedia ? open + 1 : end;
      continue;
    }
    const close = css.indexOf("}", open);
    const end = close < 0 ? css.length : close;
    if (telling < open) telling = nextMatch(css, open, TELLING);
    if (telling < end) {
      const selectors = css.slice(at, open).trim();
      const rule = mediaEnd > 0 ? visitOnSome : visit;
      rule(selectors.slice(selectors.lastIndexOf(";") + 1), css.slice(open + 1, end));
    }
    at = end + 1;
  }
}

const AT_SIGN = 0x40;

/** Matches what hiding or showing declarations contain, see `HIDING_STYLE`, `CLIPPED` and `isShowing`. */
const TELLING = /display|visibility|clip|overflow|font-size\s*:\s*0|:\s*-\d{4}/gi;

function skipSpace(css: string, from: number): number {
  let at = from;
  while (at < css.length && isWhiteSpace(css.charCodeAt(at))) at++;
  return at;
}

function withoutComments(sheet: string): string {
  let css = "";
  let at = 0;
  for (let open = sheet.indexOf("/*"); open >= 0; open = sheet.indexOf("/*", at)) {
    css += sheet.slice(at, open);
    const close = sheet.indexOf("*/", open + 2);
    if (close < 0) return css;
    at = close + 2;
  }
  return css + sheet.slice(at);
}

function skipBlock(css: string, open: number): number {
  let depth = 0;
  for (let index = open; index < css.length; index++) {
    const code = css.charCodeAt(index);
    if (code === 0x7b) depth++;
    else if (code === 0x7d && --depth === 0) return index + 1;
  }
  return css.length;
}
