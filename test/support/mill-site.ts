import { type Route, reply } from "./faulty-site.ts";

const WORDS = "Water turns the wheel of the old mill by the river, day after day and year after year. ";
const html =
  (body: string, status = 200): Route =>
  ({ socket }) =>
    reply(socket, { status, body: `<!doctype html><html lang="en">${body}` });
const article = (title: string, rest = ""): Route =>
  html(
    `<head><title>${title}</title><meta name="author" content="Ada Miller"></head><body><article><h1>${title}</h1>${`<p>${WORDS.repeat(4)}</p>`.repeat(4)}${rest}</article></body>`,
  );

const HOSTILE = `<h2 onclick="alert(1)">Traps</h2>
<p><script>document.title="owned"; fetch("http://evil.example/a")</script>${WORDS}<img src="http://evil.example/b.png" onerror="alert(2)" alt="bait" width=600 height=400>
<a href="javascript:alert(3)">press me</a> <a href="data:text/html,<script>alert(4)</script>">or me</a></p>
<iframe src="http://evil.example/c"></iframe><form action="http://evil.example/d"><button>Send</button></form>
<p>&lt;script&gt;alert(5)&lt;/script&gt; &lt;img src=x onerror=alert(6)&gt; and [click](javascript:alert(7)) ${WORDS}</p>
<svg onload="alert(8)"><style>body{background:url(http://evil.example/e)}</style></svg>`;

const links = (paths: readonly string[]): string =>
  paths.map((path) => `<p><a href="${path}">${path}</a> ${WORDS}</p>`).join("");
const PAGES = Array.from({ length: 12 }, (_, place) => `/deep/${place}`);

/**
 * The site of a mill, for the pages that people see: `/` links to what can be extracted and what cannot, `/one` to
 * slow pages, `/hostile` tries everything, `/huge` has an endless list.
 */
export const MILL_ROUTES: Readonly<Record<string, Route>> = {
  "/robots.txt": ({ socket }) =>
    reply(socket, { headers: { "content-type": "text/plain" }, body: "User-agent: *\nDisallow: /secret\n" }),
  "/": article("The whole mill", links(["/one", "/broken", "/secret/door", "/empty", "/picture"])),
  "/one": article("One", links(PAGES)),
  "/broken": html("<p>Fault.</p>", 500),
  "/empty": html("<body></body>"),
  "/picture": ({ socket }) => reply(socket, { headers: { "content-type": "image/png" }, body: "x" }),
  "/hostile": article("Hostile", HOSTILE),
  "/huge": article("Huge", `<ul>${"<li>An item of an endless list of things</li>".repeat(30_000)}</ul>`),
  ...Object.fromEntries(
    PAGES.map((path): [string, Route] => [
      path,
      async (visit) => {
        await Bun.sleep(150);
        await article(`Page ${path}`)(visit);
      },
    ]),
  ),
};
