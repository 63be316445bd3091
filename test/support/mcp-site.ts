import { serveLocal } from "./local.ts";
/** A site of loopback with the kinds of pages that a model may ask for; dispose of it to close it. */
export type McpSite = ReturnType<typeof startMcpSite>;

const sentence = (number: number): string =>
  `Paragraph ${number} tells of the tide, the quay and the boats that were moored there before the storm of that year.`;

const page = (title: string, body: string): string =>
  `<!doctype html><html lang=en><head><title>${title}</title><meta name=author content="Ada Reed"></head><body><main><h1>${title}</h1>${body}</main></body></html>`;

/** The number of paragraphs of `/long`. */
export const LONG_PARAGRAPHS = 600;

const PAGES: Readonly<Record<string, string>> = {
  "/short": page("Hello", "<p>Word.</p>"),
  "/long": page(
    "Long",
    Array.from({ length: LONG_PARAGRAPHS }, (_, number) => `<p>${sentence(number)}</p>`).join(""),
  ),
  "/parts": page(
    "Parts",
    `<div id=first><p>${sentence(1)}</p></div><div id=second><p>${sentence(2)} <a href=/short>Short page</a></p></div>`,
  ),
  "/site/": page(
    "Start",
    `<p>${sentence(1)}</p><p><a href=/site/a>a</a> <a href=/site/gone>gone</a> <a href=/private/b>b</a></p>`,
  ),
  "/site/a": page("A", `<p>${sentence(2)}</p>`),
  "/private/b": page("B", `<p>${sentence(3)}</p>`),
};

const html = { headers: { "content-type": "text/html; charset=utf-8" } };

export function startMcpSite() {
  const counts = new Map<string, number>();
  let waiting = 0;
  const server = serveLocal(async (request) => {
    const { pathname } = new URL(request.url);
    counts.set(pathname, (counts.get(pathname) ?? 0) + 1);
    const body = PAGES[pathname];
    if (body !== undefined) return new Response(body, html);
    if (pathname === "/robots.txt") return new Response("User-agent: *\nDisallow: /private/\n");
    if (pathname === "/moved") return Response.redirect("/short", 301);
    if (pathname === "/paper.pdf")
      return new Response("%PDF-1.7 \0\u0001", { headers: { "content-type": "application/pdf" } });
    if (pathname === "/empty") return new Response(page("", ""), html);
    if (!pathname.startsWith("/slow")) return new Response("no such page", { ...html, status: 404 });
    waiting++;
    await new Promise<void>((resolve) => request.signal.addEventListener("abort", () => resolve()));
    waiting--;
    return new Response();
  });
  return {
    origin: server.url.origin,
    /** How often a path was asked for. */
    count: (path: string) => counts.get(path) ?? 0,
    /** Requests that wait for an answer that never comes. */
    waiting: () => waiting,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
