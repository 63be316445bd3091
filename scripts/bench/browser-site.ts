/**
 * A site for scripts/bench/browser.ts: `/page/N` is an article that a script completes from `/part/N`, with a
 * style sheet, two scripts and a picture. It prints its origin and serves until it is ended.
 */
const PARAGRAPH =
  "The wheel of the mill turns slowly, and the water falls over the weir all day long, whatever the season. ";
const paragraphs = (count: number, mark: string): string =>
  Array.from({ length: count }, (_, n) => `<p>${mark} ${n}. ${PARAGRAPH.repeat(4)}</p>`).join("\n");

const articlePage = (n: string): string => `<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Page ${n}</title><link rel="stylesheet" href="/style.css"><script src="/library.js"></script></head>
<body><nav>${Array.from({ length: 40 }, (_, i) => `<a href="/page/${i}">Page ${i}</a>`).join(" ")}</nav>
<main><article><h1>Page ${n}</h1><img src="/picture.png" alt="">${paragraphs(20, `Sent ${n}`)}
<div id="more"></div></article></main><script>window.PAGE = ${JSON.stringify(n)};</script><script src="/app.js"></script></body></html>`;

const APP = `setTimeout(async () => {
  const answer = await fetch("/part/" + window.PAGE);
  document.getElementById("more").innerHTML = await answer.text();
}, 30);`;
// It is as large as real libraries and has to be parsed like one.
const LIBRARY = Array.from({ length: 1500 }, (_, n) => `function f${n}(a, b) { return a * ${n} + b; }`).join(
  "\n",
);
const STYLE = Array.from({ length: 500 }, (_, n) => `.c${n} { margin: ${n}px; }`).join("\n");

const type = (name: string) => ({ headers: { "content-type": name } });
const pages = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const { pathname } = new URL(request.url);
    const [, kind = "", n = ""] = pathname.split("/");
    if (kind === "page") return new Response(articlePage(n), type("text/html; charset=utf-8"));
    if (kind === "part")
      return new Response(paragraphs(20, `Fetched ${n}`), type("text/html; charset=utf-8"));
    if (kind === "app.js") return new Response(APP, type("text/javascript"));
    if (kind === "library.js") return new Response(LIBRARY, type("text/javascript"));
    if (kind === "style.css") return new Response(STYLE, type("text/css"));
    return new Response(new Uint8Array(1000), type("image/png"));
  },
});
console.log(`http://127.0.0.1:${pages.port}`);
