import stylesPath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import bundlePath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { type Layer, prefersHtml } from "../middleware/exchange.ts";
import { bundlePageScript } from "./bundle.ts" with { type: "macro" };
import docsStyle from "./page/docs/docs.css" with { type: "text" };

const startScript = bundlePageScript("docs/main.ts");

/** A file inside the program that browsers load. */
type EmbeddedFile = {
  readonly type: string;
  /** Its place in the program, from `import … with { type: "file" }`, or its text. */
  readonly source: { readonly path: string } | { readonly text: string };
};

/** Swagger UI for `openapi.json`, which needs no network. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>article-extractor API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/docs.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script type="module" src="docs/start.js"></script>
</body>
</html>
`;

/** What the page loads, by the name that it uses. */
const FILES: ReadonlyMap<string, EmbeddedFile> = new Map([
  ["swagger-ui.css", { type: "text/css; charset=utf-8", source: { path: stylesPath } }],
  ["swagger-ui-bundle.js", { type: "text/javascript; charset=utf-8", source: { path: bundlePath } }],
  ["docs.css", { type: "text/css; charset=utf-8", source: { text: docsStyle } }],
  ["start.js", { type: "text/javascript; charset=utf-8", source: { text: startScript } }],
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
  return file ? fileResponse(file) : await next(exchange);
};

function fileResponse({ type, source }: EmbeddedFile): Response {
  const body = "text" in source ? source.text : Bun.file(source.path);
  // Another version of the program may have other files under the same names.
  return new Response(body, { headers: { "content-type": type, "cache-control": "public, max-age=300" } });
}
