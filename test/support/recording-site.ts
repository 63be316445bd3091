import { serveLocal } from "./local.ts";
/** A request as the site saw it. */
export type SeenRequest = { readonly path: string; readonly headers: Readonly<Record<string, string>> };

const PAGE = `<html><head><title>Tide tables</title></head><body><article><p>${"The gate opens at low water. ".repeat(40)}</p></article></body></html>`;

/**
 * A site on loopback that remembers what it was sent. Every path is a page of 240 words, but:
 * `/silent` never answers; `/status/N` answers N, with that page; `/bytes/N` is a page of N bytes;
 * `/to?url=` redirects there.
 */
export function serveRecordingSite() {
  const seen: SeenRequest[] = [];
  const server = serveLocal((request) => {
    const url = new URL(request.url);
    seen.push({ path: url.pathname + url.search, headers: Object.fromEntries(request.headers) });
    const [, kind, argument = ""] = url.pathname.split("/");
    if (kind === "silent") return new Promise<Response>(() => {});
    if (kind === "to") return Response.redirect(url.searchParams.get("url") ?? "/", 302);
    const body = kind === "bytes" ? PAGE.padEnd(Number(argument)) : PAGE;
    const status = kind === "status" ? Number(argument) : 200;
    return new Response(body, { status, headers: { "content-type": "text/html; charset=utf-8" } });
  });
  return {
    origin: server.url.origin /** Every request so far, in order. */,
    seen,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
