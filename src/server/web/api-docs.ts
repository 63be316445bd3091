import { type Layer, prefersHtml } from "../middleware/exchange.ts";
import { bundlePageScript } from "./bundle.ts" with { type: "macro" };
import docsStyle from "./page/docs/docs.css" with { type: "text" };

const startScript = bundlePageScript("docs/main.ts");

/** A file inside the program that browsers load. */
type EmbeddedFile = {
  readonly type: string;
  /** Loads the text: large files are compressed in the program. */
  readonly load: () => Promise<string>;
};

/** Swagger UI for `openapi.json`, which needs no network. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>article-extractor API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/docs.css">
</head>
<body>
<nav aria-label="Pages"><a href="./">Back to the page</a></nav>
<main id="swagger-ui"><p class="loading">Loading the documentation …</p></main>
<script src="docs/swagger-ui-bundle.js"></script>
<script type="module" src="docs/start.js"></script>
</body>
</html>
`;

const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

/** What the page loads, by the name that it uses. */
const FILES: ReadonlyMap<string, EmbeddedFile> = new Map([
  [
    "swagger-ui.css",
    {
      type: CSS,
      load: async () => (await import("swagger-ui-dist/swagger-ui.css", { with: { type: "text" } })).default,
    },
  ],
  [
    "swagger-ui-bundle.js",
    {
      type: SCRIPT,
      load: async () =>
        (await import("swagger-ui-dist/swagger-ui-bundle.js", { with: { type: "text" } })).default,
    },
  ],
  ["docs.css", { type: CSS, load: async () => docsStyle }],
  ["start.js", { type: SCRIPT, load: async () => startScript }],
]);

// The page may run, load and connect only to what this server serves, and may not be framed.
const OWN_ONLY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Answers with the documentation's page. */
export const apiDocsPage = (): Response =>
  new Response(PAGE, {
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": OWN_ONLY },
  });

const FOLDER = "/docs/";

/**
 * Shows the documentation to browsers, and serves its files to everybody. It comes before the check of the
 * API key for the same reason as `servePages`: its contents come from `/openapi.json`, which needs the key.
 */
export const serveApiDocs: Layer = (next) => async (exchange) => {
  const { request, path } = exchange;
  if (request.method !== "GET" && request.method !== "HEAD") return next(exchange);
  if (path === "/docs" && prefersHtml(request.headers.get("accept"))) return apiDocsPage();
  const file = path.startsWith(FOLDER) ? FILES.get(path.slice(FOLDER.length)) : undefined;
  return file ? await fileResponse(file) : await next(exchange);
};

async function fileResponse({ type, load }: EmbeddedFile): Promise<Response> {
  // Another version of the program may have other files under the same names.
  return new Response(await load(), {
    headers: { "content-type": type, "cache-control": "public, max-age=300" },
  });
}
