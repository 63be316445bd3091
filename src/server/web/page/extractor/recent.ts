import { h } from "../dom.ts";
import { keptList } from "../kept-list.ts";

/** Pages to try, of two kinds. */
export const EXAMPLES: readonly { readonly label: string; readonly url: string }[] = [
  { label: "An encyclopedia’s article", url: "https://en.wikipedia.org/wiki/Printing_press" },
  { label: "A page of documentation", url: "https://docs.python.org/3/library/json.html" },
];

const MAX_RECENT = 8;
const MAX_LENGTH = 500;

/** The addresses that were extracted last. Only this browser keeps them. */
const addresses = keptList(
  "article-extractor.recent",
  MAX_RECENT,
  (url): url is string => typeof url === "string" && mayBeKept(url),
);

/** Keeps an address, unless a secret may be in it. */
export function keepAddress(url: string): void {
  if (mayBeKept(url)) addresses.write([url, ...addresses.read().filter((other) => other !== url)]);
}

const SECRET_NAME =
  /(?:^|[-_.])(?:(?:access|refresh|id|auth|api|csrf|session|security)?[-_]?(?:token|key|secret)|auth|authorization|pass|passwd|password|pwd|pin|otp|code|ticket|credentials?|sig|signature|sid|sessionid|phpsessid|jsessionid|jwt|state|nonce|invite|reset|hash)(?:$|[-_.])/i;
/** Names are also written without a mark between their words. */
const CAMEL = /([a-z])([A-Z])/g;
/** From this length on, a mix of letters and digits is not a word. */
const MIN_RANDOM = 20;

/**
 * Whether an address may stay in the browser: it has no password, no parameter with the name of a secret, and no long
 * random text, such as those of links that let in whoever knows them.
 */
export function mayBeKept(url: string): boolean {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || url.length > MAX_LENGTH) return false;
  if (parsed.username !== "" || parsed.password !== "") return false;
  const parameters = [...parsed.searchParams, ...new URLSearchParams(parsed.hash.slice(1))];
  if (parameters.some(([name]) => SECRET_NAME.test(name.replace(CAMEL, "$1_$2")))) return false;
  const pieces = [parsed.pathname, ...parameters.flat()].flatMap((text) => text.split(/[^A-Za-z0-9]+/));
  return !pieces.some((piece) => piece.length >= MIN_RANDOM && /\d/.test(piece) && /[A-Za-z]/.test(piece));
}

type Choose = (url: string) => void;

/** Makes the suggestions that the page shows at first. */
export function suggestions(choose: Choose): HTMLElement {
  const recent = addresses.read();
  const examples = h(
    "section",
    { "aria-labelledby": "examples-title" },
    h("h2", { id: "examples-title" }, "Try one"),
    h("ul.addresses", ...EXAMPLES.map(({ label, url }) => address(url, label, choose))),
  );
  if (recent.length === 0) return h("div.suggestions", examples);
  const forget = h("button", { type: "button", class: "small quiet" }, "Clear the list");
  const list = h(
    "section",
    { "aria-labelledby": "recent-title" },
    h("h2", { id: "recent-title" }, "Recent"),
    h("ul.addresses", ...recent.map((url) => address(url, null, choose))),
    h("p.fine", "Stored in this browser only. ", forget),
  );
  forget.addEventListener("click", () => {
    addresses.write([]);
    list.remove();
    examples.querySelector("button")?.focus();
  });
  return h("div.suggestions", examples, list);
}

function address(url: string, label: string | null, choose: Choose): HTMLElement {
  const { host, pathname = "", search = "" } = URL.parse(url) ?? {};
  const path = `${pathname}${search}`;
  return h(
    "li",
    h(
      "button",
      { type: "button", class: "address", onclick: () => choose(url) },
      label !== null && h("span.label", label),
      h("span.where", h("span.host", host), path === "/" ? "" : path),
    ),
  );
}
