/**
 * Any text, with slashes or without, as a glob. A glob's `**` stands for folders only, so text that may hold slashes
 * is written as both forms.
 */
const ANY = "{*,*/**/*}";
/** The end of a path, or its query. */
const END = `{,\\?${ANY}}`;
/** Any character. */
const ONE = "{?,/}";
/** Any text without a slash, and any character but a slash. */
const [IN_FOLDER, NO_SLASH] = ["*", "?"];

/** The limits of one expression; each part that stands for any text multiplies the ways of a match. */
const MAX_CHARACTERS = 100;
const MAX_OPEN_PARTS = 4;
const MAX_ALTERNATIVES = 20;
/** The longest glob that a crawl takes. */
const MAX_GLOB = 200;

/** Parts of a glob: single characters, and the texts above. */
type Parts = readonly string[];

/**
 * Writes a regular expression for the paths of addresses as globs, which match in linear time. It knows literal text,
 * `.`, `.*`, `.+`, `[^/]*`, `[^/]+`, groups of literal alternatives, `?` behind a character or group, `^` and `$`. As
 * with any expression, the match may stand anywhere in the path unless it is anchored.
 * @returns null for an expression of another form, a longer one, or one that no path can match
 */
export function globsOf(expression: string): readonly string[] | null {
  if (expression === "" || expression.length > MAX_CHARACTERS) return null;
  const isFromStart = expression.startsWith("^");
  const isToEnd = /(?<!\\)\$$/.test(expression);
  const body = expression.slice(isFromStart ? 1 : 0, isToEnd ? -1 : undefined);
  const alternatives = readParts(isToEnd ? body : withoutRepeatAtEnd(body));
  if (!alternatives) return null;
  const globs = alternatives.flatMap((parts) => startsOf(parts, { isFromStart, isToEnd }));
  const texts = [...new Set(globs.map((parts) => textOf([...parts, isToEnd ? END : ANY])))];
  const isGood = texts.length > 0 && texts.every((glob) => glob !== null && glob.length <= MAX_GLOB);
  return isGood ? texts.filter((glob) => glob !== null) : null;
}

/** `blog/*` at an open end repeats the slash as often as it likes, so the slash does not count. */
const withoutRepeatAtEnd = (body: string): string => body.replace(/\\?[^\\.*+?()[\]{}|^$]\*$/, "");

const TOKEN =
  /\.\*|\.\+|\[\^\\?\/\][*+]|\((?:\?:)?((?:[^\\.*+?()[\]{}|^$]|\\[^A-Za-z0-9]|\|)+)\)(\??)|(?:\\([^A-Za-z0-9])|(\.)|([^\\.*+?()[\]{}|^$]))(\??)/gy;

/** Reads an expression without its anchors; each of its alternatives as parts, null when it has another form. */
function readParts(body: string): readonly Parts[] | null {
  let alternatives: readonly Parts[] = [[]];
  let end = 0;
  for (const token of body.matchAll(TOKEN)) {
    end = token.index + token[0].length;
    const choices = choicesOf(token);
    alternatives = alternatives.flatMap((before) => choices.map((choice) => [...before, ...choice]));
    if (alternatives.length > MAX_ALTERNATIVES) return null;
  }
  return end === body.length ? alternatives : null;
}

function choicesOf([text, group, groupMark, escaped, dot, plain, mark]: RegExpExecArray): readonly Parts[] {
  if (text === ".*") return [[ANY]];
  if (text === ".+") return [[ONE, ANY]];
  if (text.startsWith("[")) return [text.endsWith("+") ? [NO_SLASH, IN_FOLDER] : [IN_FOLDER]];
  if (group !== undefined) {
    const literals = group.split(/(?<!\\)\|/).map((one) => [...one.replace(/\\(.)/g, "$1")].map(literal));
    return groupMark === "?" ? [[], ...literals] : literals;
  }
  const part = dot === undefined ? literal(escaped ?? plain ?? "") : ONE;
  return mark === "?" ? [[], [part]] : [[part]];
}

const literal = (character: string): string =>
  /[\w/.~%:=&;,@+ -]/.test(character) && character !== "," ? character : `\\${character}`;

type Anchors = { readonly isFromStart: boolean; readonly isToEnd: boolean };

/** The beginnings that a path may have: it begins with a slash, which the expression may name or not. */
function startsOf(parts: Parts, { isFromStart, isToEnd }: Anchors): readonly Parts[] {
  const [first, ...rest] = parts;
  // What begins with any text may begin anywhere; and before the first slash there is nothing.
  if (first === ANY) return startsOf(rest, { isFromStart: false, isToEnd });
  if (first === IN_FOLDER) return startsOf(rest, { isFromStart, isToEnd });
  if (first === undefined && !isToEnd) return [["/"]];
  const own = first === "/" ? [parts] : first === ONE ? [["/", ...rest]] : [];
  return isFromStart ? own : [...own, ["/", ANY, ...parts]];
}

/** Joins parts; two texts of any length beside each other are one. Null for more than a match may have. */
function textOf(parts: Parts): string | null {
  const joined: string[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    if (before === ANY && (part === ANY || part === IN_FOLDER)) continue;
    if (before === IN_FOLDER && (part === ANY || part === IN_FOLDER)) joined.pop();
    joined.push(part);
  }
  return joined.filter((part) => part === ANY || part === IN_FOLDER).length > MAX_OPEN_PARTS
    ? null
    : joined.join("");
}
