import { nextMatch } from "../text.ts";
import { valueIn } from "./page-model.ts";
import { SiblingRules } from "./sibling-rules.ts";
import { isWhiteSpace } from "./word-stats.ts";

/** The values of an element's properties by name, both in lower case, as the cascade leaves them. */
export type Style = ReadonlyMap<string, string>;

type Declared = { readonly value: string; readonly isImportant: boolean };
type Declarations = ReadonlyMap<string, Declared>;

/** The part of a selector that names the element itself. */
type Rule = {
  /** The element's name; empty for any. */
  readonly tag: string;
  readonly names: readonly string[];
  readonly weight: number;
  readonly body: string;
  /** Whether it applies to every element so named: it has no condition but names, and no medium. */
  readonly isSure: boolean;
  /** Both are read when an element bears the name, which most rules never meet. */
  canHide?: boolean;
  declarations?: Declarations;
};

/** The rules that name an element: rules that apply to it, weakest first, and rules that a script may make apply. */
export type NamingRules = { readonly sure: readonly Rule[]; readonly possible: readonly Rule[] };

export const NO_RULES: NamingRules = { sure: [], possible: [] };
const MAX_SHEET_LENGTH = 1_000_000;
const MAX_RULES = 20_000;
const MAX_SELECTOR = 1000;
/** The most rules of one name that are compared with each element that bears the name. */
const MAX_RULES_OF_NAME = 100;

/** The rules of the page's own style sheets that can hide or show something, by class, id and tag. */
export class StyleRules {
  /** By `.class`, `#id` or tag. */
  readonly #byName = new Map<string, Rule[]>();
  readonly #withColours: boolean;
  readonly siblings = new SiblingRules();
  #count = 0;
  /** Whether a sheet decides itself what the attribute `hidden` does. */
  namesHidden = false;

  /**
   * Reads the style sheets of a page, wherever they stand in it.
   * @param withColours also keeps rules that set a colour alone, which tell something where all sheets are known
   */
  constructor(html: string, withColours: boolean) {
    this.#withColours = withColours;
    forEachSheet(html, (sheet) => {
      if (sheet.length > MAX_SHEET_LENGTH) return;
      this.namesHidden ||= sheet.includes("[hidden");
      forEachRule(sheet, withColours ? TELLING : MOVING, (selectors, body, medium) => {
        for (const selector of splitOutside(selectors, ",")) {
          if (selector.length > MAX_SELECTOR) continue;
          this.#add(selector.trim(), body, medium);
          if (medium === "any") this.siblings.add(selector.trim(), body);
        }
      });
    });
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Tells whether any rule for the given names can hide an element. */
  canHide(names: readonly string[]): boolean {
    const hides = (rule: Rule): boolean => {
      rule.canHide ??= canHide(rule.body, this.#withColours);
      return rule.isSure && rule.canHide;
    };
    return names.some((name) => this.#byName.get(name)?.some(hides) ?? false);
  }

  /**
   * @param names its tag, then each class as `.class` and the id as `#id`
   * @param canChange whether scripts can give it other names
   */
  rulesOf(names: readonly string[], canChange: boolean): NamingRules {
    const sure: Rule[] = [];
    const possible: Rule[] = [];
    const seen = new Set<Rule>();
    for (const name of names)
      for (const rule of this.#byName.get(name) ?? []) {
        if (seen.has(rule) || (rule.tag !== "" && rule.tag !== names[0])) continue;
        seen.add(rule);
        const applies = rule.isSure && rule.names.every((part) => names.includes(part));
        if (applies || !rule.isSure || canChange) (applies ? sure : possible).push(rule);
      }
    if (seen.size === 0) return NO_RULES;
    return { sure: sure.sort((one, other) => one.weight - other.weight), possible };
  }

  #add(selector: string, body: string, medium: Medium): void {
    if (this.#count >= MAX_RULES || PSEUDO_ELEMENT.test(selector)) return;
    const own = selector.slice(lastCombinator(selector) + 1);
    const [plain = ""] = PLAIN.exec(own) ?? [];
    const names = (plain.match(CLASS_OR_ID) ?? []).map(unescaped);
    const tag = (/^[a-z][\w-]*/i.exec(plain)?.[0] ?? "").toLowerCase();
    if (names.length === 0 && tag === "") return;
    const ids = names.filter((name) => name.startsWith("#")).length;
    // Layers are weaker than any rule outside of them, and later rules are stronger than equal ones before.
    const rank = ids * 10_000 + (names.length - ids) * 100 + (tag === "" ? 0 : 1);
    const weight = (medium === "layer" ? rank - 1e7 : rank) + this.#count++ / MAX_RULES;
    const rule = { tag, names, weight, body, isSure: plain === selector && medium !== "some" };
    for (const name of names.length === 0 ? [tag] : names) {
      const rules = this.#byName.get(name);
      if (rules === undefined) this.#byName.set(name, [rule]);
      else if (rules.length < MAX_RULES_OF_NAME) rules.push(rule);
    }
  }
}

const PSEUDO_ELEMENT = /::|:(?:before|after|first-l)/i;
const PLAIN = /^(?:\*|[a-z][\w-]*)?(?:[.#](?:[\w-]|[\u0080-\uffff]|\\[^\n])+)*/i;
const CLASS_OR_ID = /[.#](?:[\w-]|[\u0080-\uffff]|\\[^\n])+/g;

const COMBINATOR = /[\s>+~]/;

/** Returns the position of a selector's last combinator, or -1. */
function lastCombinator(selector: string): number {
  if (!COMBINATOR.test(selector)) return -1;
  let depth = 0;
  for (let at = selector.length - 1; at >= 0; at--) {
    const sign = selector[at]!;
    if (sign === ")" || sign === "]") depth++;
    else if (sign === "(" || sign === "[") depth--;
    else if (depth === 0 && COMBINATOR.test(sign) && selector[at - 1] !== "\\") return at;
  }
  return -1;
}

/**
 * The values that an element has from rules and from its style attribute, by their order and weight. A value that a
 * possible rule would replace is empty: only a browser can know it.
 */
export function styleOf({ sure, possible }: NamingRules, inline: string): Style {
  const winners = new Map<string, Declared & { readonly weight: number }>();
  const loses = (name: string, { isImportant }: Declared): boolean =>
    !isImportant && (winners.get(name)?.isImportant ?? false);
  for (const rule of sure)
    for (const [name, declared] of declarationsOf(rule))
      if (!loses(name, declared)) winners.set(name, { ...declared, weight: rule.weight });
  for (const rule of possible)
    for (const [name, declared] of declarationsOf(rule)) {
      const winner = winners.get(name);
      const isWeaker =
        loses(name, declared) || (!declared.isImportant && (winner?.weight ?? 0) > rule.weight);
      // Colours count even where there was none, because it is they that another colour is compared with.
      if (!isWeaker && (winner ? winner.value !== declared.value : COLOURS.has(name)))
        winners.set(name, { ...declared, value: "", weight: rule.weight });
    }
  for (const [name, declared] of inline === "" ? [] : readDeclarations(inline))
    if (!loses(name, declared)) winners.set(name, { ...declared, weight: 0 });
  return new Map([...winners].map(([name, { value }]) => [name, value]));
}

const COLOURS: ReadonlySet<string> = new Set(["color", "background-color", "background-image"]);

const declarationsOf = (rule: Rule): Declarations => (rule.declarations ??= readDeclarations(rule.body));

/** Matches inline styles and rules that hide something or show it again. */
const TELLING =
  /display|visibil|opacity|clip|overflow|font|scale|transform|colou?r|background|zoom|popover|content-v|:\s*-\d{4}|text-indent|translate|(?:width|height)\s*:\s*[01](?:px)?\s*(?:[;!]|$)|\\/gi;
/** The same without what only other rules make tell something. */
const MOVING =
  /display|visibil|opacity|clip|overflow|font(?:-size)?\s*:\s*[012.]|scale|rotate[xy]|:\s*-\d{4}|\\|[;{\s]color\s*:[^;}]{1,60};[^}]{0,300}background|background[^}]{0,300}[;{\s]color\s*:|color\s*:\s*transparent/gi;
/** Matches styles that can hide something although everything around it is shown. */
const HIDING =
  /display\s*:\s*none|visibility\s*:\s*(?:hid|col)|opacity\s*[:(]\s*[0.]|clip|scale|rotate[xy]|:\s*-\d{4}|\\|text-indent|content-v|zoom|(?:height|width)\s*:\s*[01](?:px|%)?\s*(?:[;!]|$)|font(?:-size)?\s*:\s*(?:[012](?:px|[\s;!/]|$)|[0.])|(?:^|[;\s])color\s*:\s*(?:t|rgba|#\w{4}(?:\w{4})?\b)|translate|-fill-/i;
const COLOUR = /(?:^|[;\s])color\s*:/i;

/** Tells whether a style can hide something where everything around it is shown. */
const canHide = (style: string, withColours: boolean): boolean =>
  HIDING.test(style) ||
  (/background/i.test(style) ? withColours || COLOUR.test(style) : withColours && COLOUR.test(style));

/** Tells whether a style may say something about visibility. */
export const isTelling = (style: string): boolean => nextMatch(style, 0, TELLING) < style.length;

const ALIAS = /^-webkit-(?!text)/;
const KEPT: ReadonlySet<string> = new Set(
  `display visibility opacity filter scale transform translate clip clip-path overflow width height max-width
  max-height min-width min-height padding padding-top padding-bottom position left top right inset margin margin-left
  margin-top float white-space text-indent text-shadow font-size zoom color background-color background-image
  background-clip content-visibility -webkit-text-fill-color animation animation-name transition will-change font background`.split(
    /\s+/,
  ),
);
const OVERFLOW = /^overflow-[xy]$/;
const DISPLAY =
  /^(?:none|block|inline|flex|grid|contents|table|list-item|flow|ruby|initial|inherit|unset|revert|-webkit)/;

function readDeclarations(style: string): Declarations {
  const declarations = new Map<string, Declared>();
  const put = (name: string, value: string, isImportant: boolean): void => {
    if (isImportant || !declarations.get(name)?.isImportant) declarations.set(name, { value, isImportant });
  };
  for (const part of splitOutside(withoutComments(style), ";")) {
    const colon = part.indexOf(":");
    if (colon < 0) continue;
    const written = unescaped(part.slice(0, colon)).trim().toLowerCase();
    const name = written.replace(ALIAS, "").replace(OVERFLOW, "overflow");
    if (!KEPT.has(name)) continue;
    const whole = unescaped(part.slice(colon + 1)).toLowerCase();
    const value = whole.replace(/!\s*important\s*$/, "").trim();
    if (value === "" || (name === "display" && !DISPLAY.test(value))) continue;
    const isImportant = value.length < whole.trimEnd().length && whole.includes("!");
    if (name === "font") put("font-size", sizeOfFont(value), isImportant);
    else if (name === "background") {
      put("background-color", colourIn(value), isImportant);
      put("background-image", /url\(|gradient\(|image/.test(value) ? value : "none", isImportant);
      if (/\btext\b/.test(value)) put("background-clip", "text", isImportant);
    } else put(name, value, isImportant);
  }
  return declarations;
}

/** The size in the shorthand `font: italic 0/0 serif`; empty without one. */
const sizeOfFont = (value: string): string =>
  /(?:^|\s)(\d{0,9}\.?\d{1,9}(?:[a-z]{2,4}|%)?)(?=\s|\/|$)(?!\s{1,9}\d)/.exec(value)?.[1] ?? "";

/** The colour in the shorthand `background: #fff no-repeat`; transparent without one. */
const colourIn = (value: string): string =>
  splitOutside(value, " ").find((part) => COLOUR_WORD.test(part)) ?? "transparent";

const COLOUR_WORD =
  /^(?:#[\da-f]{3,8}|(?:rgb|hsl|hwb|lab|lch|oklab|oklch|color|var)[a-z-]*\(.*|(?!(?:none|no-|repeat|scroll|fixed|local|center|top|bottom|left|right|cover|contain|auto|border|padding|content|text|url|space|round)\b)[a-z]+)$/;

/** Splits at a sign that stands outside of quotes and brackets. */
function splitOutside(text: string, sign: string): readonly string[] {
  if (!/["'([\\]/.test(text)) return text.split(sign);
  const parts: string[] = [];
  let depth = 0;
  let quote = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text[at]!;
    if (unit === "\\") at++;
    else if (quote !== "") quote = unit === quote || unit === "\n" ? "" : quote;
    else if (unit === '"' || unit === "'") quote = unit;
    else if (unit === "(" || unit === "[") depth++;
    else if (unit === ")" || unit === "]") depth = Math.max(0, depth - 1);
    else if (unit === sign && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

/** Replaces the escapes of CSS (`\6e one`) by what they mean. */
const unescaped = (text: string): string =>
  text.includes("\\")
    ? text.replace(/\\(?:([\da-f]{1,6})\s?|(.))/gis, (_, code, sign) =>
        code ? String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff)) : sign,
      )
    : text;

/** Visits the style sheets of a page that are for screens. */
function forEachSheet(html: string, visit: (sheet: string) => void): void {
  if (!html.includes("<style") && !html.includes("<STYLE")) return;
  for (let at = nextMatch(html, 0, VERBATIM); at < html.length; at = nextMatch(html, at, VERBATIM)) {
    const [, comment, name = ""] = VERBATIM_NAME.exec(html.slice(at, at + 12)) ?? [];
    const open = comment ? at + 4 : html.indexOf(">", at) + 1;
    const close = comment
      ? html.indexOf("-->", at + 2)
      : nextMatch(html, open, END_TAGS[name.toLowerCase()]!);
    if (open === 0 || close < 0 || close >= html.length) return;
    if (/^style$/i.test(name)) visit(underMedia(html.slice(at, open), html.slice(open, close)));
    at = close + 2;
  }
}

const VERBATIM = /<(?:!--|(?:style|script|noscript|template|textarea|title|xmp)(?=[\s/>]))/gi;
const VERBATIM_NAME = /^<(?:(!--)|(\w+))/;
const END_TAGS: Readonly<Record<string, RegExp>> = {
  style: /<\/style(?=[\s/>])/gi,
  script: /<\/script(?=[\s/>])/gi,
  noscript: /<\/noscript(?=[\s/>])/gi,
  template: /<\/template(?=[\s/>])/gi,
  textarea: /<\/textarea(?=[\s/>])/gi,
  title: /<\/title(?=[\s/>])/gi,
  xmp: /<\/xmp(?=[\s/>])/gi,
};

/** Wraps a style sheet that has a media query in `@media`. */
function underMedia(startTag: string, sheet: string): string {
  const query = (valueIn(startTag.slice(0, 1000), MEDIA) ?? "").replace(/[{};"'<]/g, "").trim();
  return query === "" || /^(?:all|screen)$/i.test(query) ? sheet : `@media ${query}{${sheet}}`;
}

const MEDIA = /\smedia\s*=\s*(?:"([^"]{0,200})"|'([^']{0,200})'|([^\s"'>]{1,200}))/i;

/** The scope of rules: anywhere, in a layer, or for some screens only. */
type Medium = "any" | "layer" | "some";
type VisitRule = (selectors: string, declarations: string, medium: Medium) => void;

// Visits the rules of a sheet that tell something. Rules in @media and the like apply to some screens only.
function forEachRule(sheet: string, wanted: RegExp, visit: VisitRule): void {
  const css = withoutComments(sheet).replace(/<!--|-->/g, "");
  let at = 0;
  /** The at-rules around, each with its end. */
  const around: { readonly end: number; readonly medium: Medium }[] = [];
  /** The next declaration that may hide or show something; most rules have none. */
  let telling = -1;
  for (;;) {
    const open = css.indexOf("{", at);
    if (open < 0) return;
    const outer = around.at(-1);
    if (outer && open >= outer.end) {
      at = Math.max(at, outer.end);
      around.pop();
      continue;
    }
    at = skipSpace(css, at);
    const medium = outer?.medium ?? "any";
    if (css.charCodeAt(at) === AT_SIGN) {
      // A statement such as @import ends before the block.
      const statement = css.slice(at, open).lastIndexOf(";");
      if (statement >= 0) {
        at += statement + 1;
        continue;
      }
      const inner = around.length < MAX_NESTING ? mediumOf(css.slice(at, Math.min(open, at + 200))) : null;
      const end = skipBlock(css, open);
      if (inner !== null) around.push({ end, medium: medium === "any" ? inner : medium });
      at = inner === null ? end : open + 1;
      continue;
    }
    const { end, until } = rangeOf(css, open);
    if (telling < open) telling = nextMatch(css, open, wanted);
    if (telling < end) visit(css.slice(at, open).trim(), css.slice(open + 1, until), medium);
    at = end + 1;
  }
}

/** Returns the end of a rule, and the end of its own declarations when other rules are nested in it. */
function rangeOf(css: string, open: number): { readonly end: number; readonly until: number } {
  const close = css.indexOf("}", open);
  const end = close < 0 ? css.length : close;
  const nested = css.indexOf("{", open + 1);
  if (nested < 0 || nested >= end) return { end, until: end };
  return { end: skipBlock(css, open) - 1, until: Math.max(open + 1, css.lastIndexOf(";", nested) + 1) };
}

const AT_SIGN = 0x40;
const MAX_NESTING = 8;

/** Returns the medium of the rules inside an at-rule; null if they never apply to a screen. */
function mediumOf(prelude: string): Medium | null {
  if (/^@layer\b/i.test(prelude)) return "layer";
  if (/^@media\s*(?:(?:only\s+)?(?:all|screen)\s*)$/i.test(prelude.trim())) return "any";
  if (/^@media\s*print/i.test(prelude)) return null;
  return /^@(?:media|supports|container|scope|starting-style)\b/i.test(prelude) ? "some" : null;
}

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
