import { serveLocal } from "./local.ts";

/** How a page gets words that its document does not show. */
export const SCRIPTED = ["other_script", "inline_text", "attribute", "data", "late", "container"] as const;
export type Scripted = (typeof SCRIPTED)[number];

export type LearnedSite = ReturnType<typeof serveLearnedSite>;

type SiteOptions = {
  readonly pages: number;
  /** The pages with more words in a browser, by their number. */
  readonly scripted: ReadonlyMap<number, Scripted>;
  /** From this page on the script of all pages adds words by the page's address alone. */
  readonly changesFrom?: number;
};

const JS = { headers: { "content-type": "text/javascript" } };
const SITE_SCRIPT = (from: number): string => `
  document.documentElement.dataset.ready = "yes";
  var add = (text, place = document.querySelector("main")) => place.insertAdjacentHTML("beforeend", "<p>" + text + "</p>");
  for (const element of document.querySelectorAll("[data-words]")) add(element.dataset.words, element);
  for (const data of document.querySelectorAll("script[type='application/json']")) add(JSON.parse(data.textContent).words);
  var number = Number(location.pathname.slice(2));
  if (number >= ${from}) add("Written for the address of number" + number);
`;

/** What a page of each kind adds to its document, and the word that it has in a browser. */
const ADDED: Readonly<Record<Scripted, (n: number) => string>> = {
  other_script: (n) => `<script src="/other.js?${n}"></script>`,
  inline_text: (n) => `<script>add("Shown here is inline${spelt(n)}");</script>`,
  attribute: (n) => `<div data-words="Taken from the attribute${spelt(n)}"></div>`,
  data: (n) => `<script type="application/json">{"words":"Taken from the data${spelt(n)}"}</script>`,
  late: (n) =>
    `<script>document.querySelector("main").innerHTML = "Loading…"; setTimeout(() => { document.querySelector("main").innerHTML = "<h1>Late</h1>"; add("It came late${spelt(n)}"); }, 2000);</script>`,
  container: (n) =>
    `<section id="more" data-from="/part/${n}"></section><script src="/container.js"></script>`,
};
const WORD: Readonly<Record<Scripted, (n: number) => string>> = {
  other_script: (n) => `scripted${spelt(n)}`,
  inline_text: (n) => `inline${spelt(n)}`,
  attribute: (n) => `attribute${spelt(n)}`,
  data: (n) => `data${spelt(n)}`,
  late: (n) => `late${spelt(n)}`,
  container: (n) => `part${spelt(n)}`,
};

/** A number in letters, because numbers in scripts count for nothing. */
const spelt = (n: number): string => [...String(n)].map((digit) => "abcdefghij"[Number(digit)]).join("");

/** A site whose first page links to all others. All have the same script, which changes no text. */
export function serveLearnedSite({ pages, scripted, changesFrom = Number.POSITIVE_INFINITY }: SiteOptions) {
  const asked: string[] = [];
  const links = Array.from({ length: pages }, (_, at) => `<li><a href="/p${at + 1}">Page ${at + 1}</a></li>`);
  const html = (n: number): string => {
    const kind = scripted.get(n);
    return `<!doctype html><html><head><title>Page ${n}</title><link rel="icon" href="/icon.png">
      <link rel="stylesheet" href="/site.css"><script src="/site.js" defer></script></head>
      <body><img src="/picture.png"><main><h1>Page ${n}</h1><p>${`The mill of page${spelt(n)} turns slowly. `.repeat(30)}</p>
      ${n === 0 ? `<ul>${links.join("")}</ul>` : ""}${kind ? `<script src="/site.js"></script>${ADDED[kind](n)}` : ""}</main>
      <video src="/film.mp4" autoplay></video></body></html>`;
  };
  const server = serveLocal(async (request) => {
    const { pathname, search } = new URL(request.url);
    asked.push(pathname);
    if (pathname === "/site.js") return new Response(SITE_SCRIPT(Math.min(changesFrom, 1e9)), JS);
    if (pathname === "/other.js")
      return new Response(`add("Added by another script: scripted${spelt(Number(search.slice(1)))}");`, JS);
    if (pathname === "/container.js")
      return new Response(
        `fetch(more.dataset.from).then(async (answer) => { add(await answer.text(), more); });`,
        JS,
      );
    if (pathname.startsWith("/part/")) {
      await Bun.sleep(300);
      return new Response(`Fetched is part${spelt(Number(pathname.slice(6)))}`);
    }
    if (pathname === "/site.css")
      return new Response("@font-face { font-family: F; src: url(/font.woff2) } body { font-family: F }", {
        headers: { "content-type": "text/css" },
      });
    const n = pathname === "/" ? 0 : Number(/^\/p(\d+)$/.exec(pathname)?.[1] ?? Number.NaN);
    if (Number.isNaN(n)) return new Response("missing", { status: 404 });
    return new Response(html(n), { headers: { "content-type": "text/html; charset=utf-8" } });
  });
  return {
    origin: server.url.origin,
    /** The paths that were asked for, in order. */
    asked,
    /** The words that page `n` has in a browser. */
    wordsOf(n: number) {
      const kind = scripted.get(n);
      const own = kind === "late" ? [] : [`page${spelt(n)}`];
      return [...own, ...(kind ? [WORD[kind](n)] : []), ...(n >= changesFrom ? [`number${n}`] : [])];
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
