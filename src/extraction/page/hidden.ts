// What inline styles hide from readers (opacity is left out: pages fade their own content in).
const HIDING_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?:px|em|rem|%)?\s*(?:!|;|$)|(?:text-indent|left|top|right|margin-left)\s*:\s*-\d{4,}|content-visibility\s*:\s*hidden|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\))/i;
const ZERO_SIDE = /(?:^|[;\s])(?:width|height|max-width|max-height)\s*:\s*[01](?:px)?\s*(?:!|;|$)/i;
const CLIPPED = /overflow(?:-[xy])?\s*:\s*(?:hidden|clip)/i;
const MAX_STYLE_LENGTH = 2000;

/** True when an inline style keeps an element from being seen. */
export function isHidingStyle(style: string): boolean {
  const value = style.length > MAX_STYLE_LENGTH ? style.slice(0, MAX_STYLE_LENGTH) : style;
  return HIDING_STYLE.test(value) || (ZERO_SIDE.test(value) && CLIPPED.test(value));
}

/** Names that the page's own style sheets hide. */
export type HiddenNames = { readonly classes: ReadonlySet<string>; readonly ids: ReadonlySet<string> };

const SIMPLE_SELECTOR = /^(?:[a-z][a-z0-9]*)?([.#])((?:[\w-]|\\:)+)$/i;
const CLASS_OR_ID = /[.#]((?:[\w-]|\\:)+)/g;
const MAX_SHEET_LENGTH = 1_000_000;

/**
 * Reads which single classes and ids the page's `<style>` elements hide for every screen. A name that any
 * rule shows again (`.tab{display:none} .tab.active{display:block}`) is left out: only a browser could
 * tell which of the two wins.
 */
export function hiddenNames(sheets: readonly string[]): HiddenNames {
  const classes = new Set<string>();
  const ids = new Set<string>();
  const shown = new Set<string>();
  for (const sheet of sheets) {
    if (sheet.length > MAX_SHEET_LENGTH || !/display|visibility|text-indent|left|clip/.test(sheet)) continue;
    forEachRule(sheet, (selectors, declarations) => {
      const hides = isHidingStyle(declarations);
      if (!hides && !/display\s*:|visibility\s*:\s*visible/i.test(declarations)) return;
      for (const selector of selectors.split(",")) {
        if (!hides) for (const match of selector.matchAll(CLASS_OR_ID)) shown.add(match[1] ?? "");
        else {
          const match = SIMPLE_SELECTOR.exec(selector.trim());
          if (match?.[2]) (match[1] === "." ? classes : ids).add(match[2]);
        }
      }
    });
  }
  for (const name of shown) {
    classes.delete(name);
    ids.delete(name);
  }
  return { classes, ids };
}

// Rules inside @media and its like hold for some screens only, so they are passed over.
function forEachRule(sheet: string, visit: (selectors: string, declarations: string) => void): void {
  const css = withoutComments(sheet).replace(/<!--|-->/g, "");
  let at = 0;
  while (at < css.length) {
    const open = css.indexOf("{", at);
    if (open < 0) return;
    const selectors = css.slice(at, open).trim();
    if (selectors.startsWith("@")) {
      at = skipBlock(css, open);
      continue;
    }
    const close = css.indexOf("}", open);
    const end = close < 0 ? css.length : close;
    visit(selectors.slice(selectors.lastIndexOf(";") + 1), css.slice(open + 1, end));
    at = end + 1;
  }
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
