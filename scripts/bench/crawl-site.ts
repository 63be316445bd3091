/**
 * The site of the crawl bench, in a process of its own: `bun scripts/bench/crawl-site.ts PAGES`. It prints
 * its port. `/` and `/p/N` are pages of about 100 KB with an article of some 900 words, inline style and
 * script, a menu of 60 links, and links to ten further pages, so that every page is found; 20 000 pages are
 * five levels deep.
 */
export {}; // makes this a module with its own names

const PAGE_BYTES = 100_000;
const FAN_OUT = 10;
const VARIANTS = 64;
/** All pages have the same script, as those of a site have. */
const SCRIPT = `<script>${"var tracker=tracker||[];tracker.push(['event','view']);".repeat(200)}</script>`;

const pages = Number(process.argv[2] ?? "2000");
const encoder = new TextEncoder();

/** Makes the same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const WORDS =
  "the of and to in a is that it was for on are as with they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know gate mill tide river engine workshop measure table signal harbour stone winter method record supply".split(
    " ",
  );

/** Makes the middle of a page, which every 64th page shares; only titles, addresses and links differ. */
function makeBody(variant: number): Uint8Array<ArrayBuffer> {
  const random = createRandom(variant + 1);
  const word = (): string => WORDS[Math.floor(random() * WORDS.length)] ?? "the";
  const sentence = (length: number): string => {
    const text = Array.from({ length }, word).join(" ");
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  };
  const paragraph = (sentences: number): string =>
    `<p class="body-text">${Array.from({ length: sentences }, () => sentence(8 + Math.floor(random() * 12))).join(" ")} <a href="/p/${1 + Math.floor(random() * (pages - 1))}"><em>${word()} ${word()}</em></a></p>\n`;
  const section = (): string => `<h2>${sentence(4)}</h2>\n${paragraph(5)}${paragraph(4)}${paragraph(5)}`;
  const article = `<article class="post"><header><span class="byline">By ${word()} ${word()}</span><time datetime="2026-03-0${1 + (variant % 9)}">March</time></header>
${paragraph(4)}${section()}<ul>${Array.from({ length: 6 }, () => `<li>${sentence(9)}</li>`).join("")}</ul>${section()}<pre><code class="language-js">const gate = open(${variant});\nconsole.log(gate);</code></pre>${section()}<table><tr><th>Day</th><th>Level</th></tr>${Array.from({ length: 8 }, (_, row) => `<tr><td>${row}</td><td>${word()}</td></tr>`).join("")}</table></article>`;
  const comment = (): string =>
    `<div class="comment"><div class="comment-meta"><a rel="nofollow" href="/user/${word()}">${word()}</a></div><div class="comment-body">${paragraph(2)}</div></div>`;
  const comments = `<section id="comments" class="comments">${Array.from({ length: 40 }, comment).join("\n")}</section>`;
  const related = `<aside class="related">${Array.from({ length: 20 }, () => `<div class="card"><a href="/p/${1 + Math.floor(random() * (pages - 1))}"><img src="/img/${word()}.jpg" alt=""><h3>${sentence(5)}</h3></a></div>`).join("")}</aside>`;
  const text = `${article}${comments}${related}`;
  const filler = Math.max(0, PAGE_BYTES - text.length - 12_000 - SCRIPT.length);
  const style = `<style>${".card{display:flex;padding:4px;margin:0 auto}.post p{line-height:1.6}".repeat(filler / 72)}</style>`;
  return encoder.encode(`${style}${text}${SCRIPT}</main></body></html>`);
}

const bodies = Array.from({ length: VARIANTS }, (_, variant) => makeBody(variant));
const menu = Array.from(
  { length: 60 },
  (_, entry) =>
    `<li class="menu-item"><a href="/p/${1 + ((entry * 7) % (pages - 1))}" class="nav-link">Section ${entry}</a></li>`,
).join("\n");

function head(number: number): Uint8Array<ArrayBuffer> {
  const below = Array.from({ length: FAN_OUT }, (_, child) => number * FAN_OUT + child + 1).filter(
    (child) => child < pages,
  );
  const links = below.map((child) => `<li><a href="/p/${child}">Chapter ${child}</a></li>`).join("");
  // An empty list would be a place for a script to fill, which makes the pages without chapters another make.
  const contents = below.length > 0 ? `<ul class="contents">${links}</ul>` : "";
  return encoder.encode(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Chapter ${number} of the book</title><meta name="description" content="Chapter ${number}"><link rel="canonical" href="${number === 0 ? "/" : `/p/${number}`}"></head><body><nav class="menu"><ul>${menu}</ul></nav><main><h1>Chapter ${number} of the book</h1>${contents}`,
  );
}

const HEADERS = { "content-type": "text/html; charset=utf-8" };
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const path = new URL(request.url).pathname;
    if (path === "/robots.txt") return new Response("User-agent: *\nDisallow: /user/\n");
    const number = path === "/" ? 0 : Number(/^\/p\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
    if (!(number < pages)) return new Response("Not found", { status: 404 });
    const body = bodies[number % VARIANTS] ?? new Uint8Array();
    return new Response(Buffer.concat([head(number), body]), { headers: HEADERS });
  },
});
const example = (await (await fetch(`http://127.0.0.1:${server.port}/p/1`)).text()).length;
console.log(JSON.stringify({ port: server.port, bytes: example }));
