import { extname, join } from "node:path";
import { Glob } from "bun";
import type { Certificate } from "./certificates.ts";

/** A site that is being served; dispose it to close its socket and all connections. */
export type ServedSite = Awaited<ReturnType<typeof serveSite>>;

const SITE_DIRECTORY = join(import.meta.dir, "..", "site");

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".xml": "application/xml; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** These name their own address, which is known only once the port is. */
const ORIGIN_TEMPLATES: ReadonlySet<string> = new Set(["/robots.txt", "/sitemap.xml"]);

type SiteFile = { readonly body: Uint8Array<ArrayBuffer>; readonly contentType: string };

export type SiteOptions = {
  /** 0 or absent takes any free port. */
  readonly port?: number;
  /** Serves HTTPS with this certificate. */
  readonly tls?: Certificate;
  /** Answers before the files do; null leaves the answer to them. */
  readonly answer?: (request: Request, url: URL) => Response | Promise<Response> | null;
};

/**
 * Serves the small website of `test/site` on 127.0.0.1, for tests, for the demo and for readers. `{origin}` in its
 * robots.txt and sitemap.xml becomes the origin that was asked; a directory answers with its index.html, and
 * any unknown address with the site's error page and status 404.
 * @throws when the port is taken
 */
export async function serveSite(options: SiteOptions = {}) {
  // Read once into a table of exact paths: a request can only ever name what is in it.
  const files = await readSite();
  const requests: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    development: false,
    reusePort: false,
    idleTimeout: 0,
    ...(options.tls && { tls: options.tls }),
    fetch(request) {
      const url = new URL(request.url);
      requests.push(url.pathname + url.search);
      return options.answer?.(request, url) ?? answer(files, request.method, url);
    },
  });
  return {
    /** Scheme, host and port without a slash at the end: `http://127.0.0.1:43210`. */
    origin:
      server.url
        .origin /** Path and query of every request so far, in order of arrival; it grows while the site is served. */,
    requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

async function readSite(): Promise<ReadonlyMap<string, SiteFile>> {
  const files = new Map<string, SiteFile>();
  for await (const name of new Glob("**/*").scan({ cwd: SITE_DIRECTORY })) {
    const contentType = CONTENT_TYPES[extname(name)];
    if (contentType === undefined)
      throw new Error(`test/site/${name} has no content type in test/support/site.ts`);
    const file: SiteFile = { body: await Bun.file(join(SITE_DIRECTORY, name)).bytes(), contentType };
    const path = `/${name.replaceAll("\\", "/")}`;
    files.set(path, file);
    if (path.endsWith("/index.html")) files.set(path.slice(0, -"index.html".length), file);
  }
  return files;
}

function answer(files: ReadonlyMap<string, SiteFile>, method: string, url: URL): Response {
  if (method !== "GET" && method !== "HEAD")
    return new Response(null, { status: 405, headers: { allow: "GET, HEAD" } });
  const file = files.get(url.pathname);
  if (file === undefined && files.has(`${url.pathname}/`)) {
    return new Response(null, { status: 301, headers: { location: `${url.pathname}/` } });
  }
  if (file === undefined) return respond(files.get("/404.html"), 404);
  if (!ORIGIN_TEMPLATES.has(url.pathname)) return respond(file, 200);
  const text = new TextDecoder().decode(file.body).replaceAll("{origin}", url.origin);
  return respond({ ...file, body: new TextEncoder().encode(text) }, 200);
}

function respond(file: SiteFile | undefined, status: number): Response {
  if (file === undefined) return new Response("Not found", { status });
  return new Response(file.body, { status, headers: { "content-type": file.contentType } });
}
