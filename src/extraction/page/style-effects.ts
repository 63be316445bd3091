import type { Style } from "./style-rules.ts";

const LENGTH = /^(\d{0,9}\.?\d{1,9})(px|r?em|pt)?$/;
const UNITS: Readonly<Record<string, number>> = { em: 16, rem: 16, pt: 4 / 3 };

/** A length in px, of letters of the usual size; NaN where only a browser knows. */
export function lengthOf(value: string): number {
  const [, number, unit = "px"] = LENGTH.exec(value) ?? [];
  return number === undefined ? (/^0+%$/.test(value) ? 0 : Number.NaN) : Number(number) * (UNITS[unit] ?? 1);
}

/** Tells whether sizes and transformations apply to an element, which they do not in a line of text. */
export function isBox(style: Style, isBlock: boolean): boolean {
  const display = style.get("display") ?? "";
  if (/absolute|fixed/.test(style.get("position") ?? "") || /left|right/.test(style.get("float") ?? ""))
    return true;
  return display === "" || display === "initial" ? isBlock : display !== "inline" && display !== "contents";
}

type Box = {
  readonly isBoxed: boolean;
  /** The element is an image or the like, which shows nothing outside of its box. */
  readonly isReplaced: boolean;
  /** A sheet that only a browser reads may give it a position. */
  readonly isNamed: boolean;
};

/** Tells whether an element has no place on the screen where it shows something. */
export function hidesBox(style: Style, { isBoxed, isReplaced, isNamed }: Box): boolean {
  if (isBoxed && (style.get("content-visibility") === "hidden" || isMovedAway(style))) return true;
  if ((isReplaced || (isBoxed && isCut(style))) && hasNoSide(style)) return true;
  return isOutside(style, isNamed) || isFar(style, MARGINS) || cutsAll(style.get("clip-path") ?? "");
}

function isOutside(style: Style, isNamed: boolean): boolean {
  const position = style.get("position") ?? (isNamed ? "absolute" : "static");
  if (/absolute|fixed/.test(position) && clipsAll(style.get("clip") ?? "")) return true;
  return position !== "static" && isFar(style, POSITIONS);
}

const isCut = (style: Style): boolean => /hidden|clip|scroll|auto/.test(style.get("overflow") ?? "");

function hasNoSide(style: Style): boolean {
  const isNothing = (side: string): boolean =>
    [side, `max-${side}`].some((name) => lengthOf(style.get(name) ?? "") <= 1) && !style.has(`min-${side}`);
  // With padding, the beginning of the content shows inside the padding.
  return (
    (isNothing("width") || isNothing("height")) &&
    !/[1-9]/.test(PADDINGS.map((name) => style.get(name)).join())
  );
}

const PADDINGS = ["padding", "padding-top", "padding-bottom"];
const POSITIONS = ["left", "top", "right", "inset"];
const MARGINS = ["margin-left", "margin-top", "margin"];
const FAR = /-\d{4,}/;
const isFar = (style: Style, names: readonly string[]): boolean =>
  names.some((name) => FAR.test(style.get(name) ?? ""));

/** A track of slides is moved by the width of all slides, so a smaller shift may still be visible. */
const MOVED_AWAY = /translate(?:3d|x|y)?\(\s*(?:0(?:px)?\s*,\s*)?-(?:9\d{3}|\d{5,})(?:\.\d+)?px/;
const isMovedAway = (style: Style): boolean =>
  MOVED_AWAY.test(style.get("transform") ?? "") || /^-(?:9\d{3}|\d{5,})px/.test(style.get("translate") ?? "");

/** Tells whether a style indents its text by more than there is room. */
export function isIndentedAway(style: Style): boolean {
  const indent = style.get("text-indent") ?? "";
  return (
    FAR.test(indent) || (/^\d{3,}%/.test(indent) && isCut(style) && style.get("white-space") === "nowrap")
  );
}

function argumentsOf(name: string, value: string): readonly string[] {
  if (!value.startsWith(`${name}(`)) return [];
  const [inner = ""] = value.slice(name.length + 1).split(/\)|round/, 1);
  return inner.trim().split(/[\s,]+/);
}

function clipsAll(clip: string): boolean {
  const [top, right, bottom, left] = argumentsOf("rect", clip).map(lengthOf);
  if (top === undefined || right === undefined || bottom === undefined || left === undefined) return false;
  return bottom - top <= 1 || right - left <= 1;
}

function cutsAll(path: string): boolean {
  const insets = argumentsOf("inset", path).map((part) => Number.parseFloat(part));
  if (insets.length > 0 && path.includes("%")) {
    const [top = 0, right = top, bottom = top, left = right] = insets;
    return top + bottom >= 100 || right + left >= 100;
  }
  const points = /^polygon\((.*)\)$/.exec(path)?.[1]?.split(",");
  if (points) return new Set(points.map((point) => point.trim().replace(/(?:px|%)/g, ""))).size <= 2;
  return /^(?:circle|ellipse)\(\s*0(?:px|%)?(?:\s|\))/.test(path);
}

/** Tells whether an element is drawn without any opacity or size. */
export function hidesByOpacity(style: Style, isBoxed: boolean): boolean {
  const opacity = style.get("opacity") ?? "";
  if (Number.parseFloat(opacity) / (opacity.endsWith("%") ? 100 : 1) <= LEAST_OPACITY) return true;
  if (/opacity\(\s*0*\.?0*%?\s*\)/.test(style.get("filter") ?? "")) return true;
  if (!isBoxed) return false;
  if (/^(?:0(?:\.0+)?%?(?:\s|$)|\S+\s+0(?:\s|$))/.test(style.get("scale") ?? "")) return true;
  return FLATTENED.test(style.get("transform") ?? "");
}

const LEAST_OPACITY = 0.02;
const FLATTENED =
  /scale(?:3d|x|y)?\(\s*(?:0*\.?0+\s*[,)]|[\d.]+\s*,\s*0*\.?0+\s*[,)])|matrix\(\s*0\s*,\s*0\s*,|rotate[xy]\(\s*-?90deg/;

const COLOURS = `white 255,255,255 black 0,0,0 red 255,0,0 lime 0,255,0 blue 0,0,255 yellow 255,255,0 gray 128,128,128
  grey 128,128,128 silver 192,192,192 whitesmoke 245,245,245 snow 255,250,250 initial 0,0,0 canvastext 0,0,0
  canvas 255,255,255`;
const NAMED_COLOURS = new Map(
  Array.from(COLOURS.matchAll(/(\w{1,20}) (\S{1,20})/g), ([, name = "", colour = ""]) => [name, colour]),
);

/** The colour as `red,green,blue`, as `transparent`, or null where only a browser knows. */
export function paintOf(written: string): string | null {
  const value = written.trim().toLowerCase();
  const hex = /^#([\da-f]{3,8})$/.exec(value)?.[1];
  if (hex) {
    const digits = hex.length < 6 ? [...hex].map((digit) => digit + digit).join("") : hex;
    return blended(
      [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2) || "ff", 16)),
      255,
    );
  }
  if (/^rgba?\([\d\s.,%/]+\)$/.test(value)) {
    const parts = value.match(/[\d.]+%?/g) ?? [];
    const [alpha = "1"] = parts.slice(3);
    const numbers = parts
      .slice(0, 3)
      .map((part) => Number.parseFloat(part) * (part.endsWith("%") ? 2.55 : 1));
    return blended([...numbers, Number.parseFloat(alpha) / (alpha.endsWith("%") ? 100 : 1)], 1);
  }
  if (/^hsla?\(.*[,/]\s*0?\.?0+%?\s*\)$/.test(value) && /(?:,.*){3}|\//.test(value)) return "transparent";
  return (
    NAMED_COLOURS.get(value) ??
    (/^(?:[a-z]+|hsl\([\d\s.,%a-z]+\))$/.test(value) && !UNKNOWN.test(value) ? value : null)
  );
}

const UNKNOWN = /^(?:inherit|unset|revert|currentcolor|auto|none)$/;

/** @param most the number that stands for no transparency */
function blended([red = 0, green = 0, blue = 0, alpha = 0]: readonly number[], most: number): string | null {
  if (alpha / most <= LEAST_OPACITY) return "transparent";
  return alpha < most ? null : `${red},${green},${blue}`;
}

/** Smallest difference between two colours, of 255, that a reader can see. */
const LEAST_DIFFERENCE = 4;

export function samePaint(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return false;
  if (one === other) return true;
  const others = other.split(",");
  return (
    one.includes(",") &&
    one.split(",").every((part, at) => Math.abs(+part - +(others[at] ?? 999)) <= LEAST_DIFFERENCE)
  );
}
