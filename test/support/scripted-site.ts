import { serveLocal } from "./local.ts";
/** A request to the site. */
export type ScriptedVisit = { readonly path: string; readonly headers: Readonly<Record<string, string>> };

const WORDS = "The wheel of the mill turns slowly and the water falls over the weir all day long. ".repeat(3);
const page = (body: string, head = ""): string =>
  `<!doctype html><html><head><title>Mill</title>${head}</head><body>${body}</body></html>`;
const article = (text: string): string => `<article><h1>Mill</h1><p>${text} ${WORDS}</p></article>`;
const fill = (text: string): string =>
  `document.getElementById("root").innerHTML = ${JSON.stringify(article(text))};`;
const loginForm = `<form method=post action=/session><input name=user value=reader><button id=go>Log in</button></form>`;

type Answer = (request: Request) => Response;

const html =
  (body: string, status = 200): Answer =>
  () =>
    new Response(body, { status, headers: { "content-type": "text/html; charset=utf-8" } });

const hasCookie = (request: Request): boolean => (request.headers.get("cookie") ?? "").includes("sid=s3cret");

const ANSWERS: Readonly<Record<string, Answer>> = {
  "/plain": html(page(`<div id=root>${article("As sent.")}</div><script>${fill("As scripted.")}</script>`)),
  "/app": html(page(`<div id="root"></div><script>${fill("From the script.")}</script>`)),
  "/gone": html(
    page(
      `<main><p>${"Nothing to see here yet. ".repeat(30)}</p></main><div id="root"></div><script>document.querySelector("main").remove(); ${fill("Not gone at all.")}</script>`,
    ),
    404,
  ),
  "/really-gone": html(page("<h1>404</h1>"), 404),
  "/late": html(
    page(
      `${article("Soon.")}<script>setTimeout(() => document.querySelector("article").insertAdjacentHTML("beforeend", "<p class=done>Came late, ${WORDS}</p>"), 1500)</script>`,
    ),
  ),
  "/scroll": html(
    page(`<article id=list><h1>Mill</h1></article><script>
      let n = 0; const more = () => { for (let i = 0; i < 10; i++) list.insertAdjacentHTML("beforeend", "<p style=height:300px>Item number " + (++n) + " of the list, " + ${JSON.stringify(WORDS)} + "</p>"); };
      more(); addEventListener("scroll", () => { if (n < 40 && innerHeight + scrollY > document.documentElement.scrollHeight - 400) more(); });</script>`),
  ),
  "/media": html(page(`${article("With a picture.")}<img src=/picture.png>`)),
  "/members": (request) =>
    hasCookie(request)
      ? html(page(`${article("Welcome back.")}<a href="/members/2">on</a>`))(request)
      : html(page(`${article("Please log in.")}${loginForm}`))(request),
  "/members/2": (request) =>
    html(page(article(hasCookie(request) ? "Second page for members." : "Please log in.")))(request),
  // A person would press the button; here the page does it, a moment after it is shown.
  "/self-login": html(page(`${loginForm}<script>setTimeout(() => document.forms[0].submit(), 100)</script>`)),
  "/desk": (request) =>
    hasCookie(request)
      ? html(page(`${article("Welcome back.")}<a href="/members/2">on</a>`))(request)
      : html(
          page(`${article("Please log in.")}${loginForm}<script>
          const look = setInterval(async () => {
            if ((await (await fetch("/person")).text()) !== "here") return;
            clearInterval(look);
            document.forms[0].submit();
          }, 100);</script>`),
        )(request),
  "/session": () =>
    new Response(null, {
      status: 303,
      headers: { location: "/members", "set-cookie": "sid=s3cret; Path=/; HttpOnly; Max-Age=3600" },
    }),
  "/markdown": () =>
    new Response(`# Mill\n\n${WORDS}\n`, { headers: { "content-type": "text/markdown; charset=utf-8" } }),
  "/to-save": () =>
    new Response(page(article("A file.")), {
      headers: { "content-type": "text/html", "content-disposition": "attachment; filename=mill.html" },
    }),
  "/crawl": html(
    page(`${article("Start.")}<a href="/app">a</a> <a href="/gone">b</a> <a href="/plain">c</a>`),
  ),
};

/** A site whose pages need a browser; disposing of it closes it. */
export function serveScriptedSite() {
  const visits: ScriptedVisit[] = [];
  let isPersonHere = false;
  const server = serveLocal((request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/person") return new Response(isPersonHere ? "here" : "away");
    visits.push({ path: pathname, headers: Object.fromEntries(request.headers) });
    return ANSWERS[pathname]?.(request) ?? new Response("nothing here", { status: 404 });
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    visits,
    /** How often a path was asked for. */
    count: (path: string) => visits.filter((visit) => visit.path === path).length,
    /** A person sits down at the window that shows `/desk`, and logs in there. */
    letPersonIn: () => {
      isPersonHere = true;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
