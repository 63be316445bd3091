import type { Layer } from "../middleware/exchange.ts";
import { answer, assetOf, createWebPage, type WebAsset } from "./assets.ts";
import { bundlePageScript } from "./bundle.ts" with { type: "macro" };
import docsStyle from "./page/docs/docs.css" with { type: "text" };
import docsHtml from "./page/docs/docs.html" with { type: "text" };
import mastheadStyle from "./page/masthead.css" with { type: "text" };

/** The page of the API in Swagger UI, whose half a megabyte comes after the first paint. */
export const docsPage = createWebPage(
  docsHtml,
  { "docs.css": `${mastheadStyle}${docsStyle}`, "docs.js": bundlePageScript("docs/main.ts") },
  { writesMarkup: true },
);

const SWAGGER: Readonly<Record<string, () => Promise<{ readonly default: string }>>> = {
  "swagger-ui.css": () => import("swagger-ui-dist/swagger-ui.css", { with: { type: "text" } }),
  "swagger-ui-bundle.js": () => import("swagger-ui-dist/swagger-ui-bundle.js", { with: { type: "text" } }),
};

/** The files of Swagger UI that were asked for; they are compressed in the program. */
const loaded = new Map<string, Promise<WebAsset>>();

function load(name: string): Promise<WebAsset> | null {
  if (!Object.hasOwn(SWAGGER, name)) return null;
  const asset = loaded.get(name) ?? SWAGGER[name]!().then(({ default: text }) => assetOf(name, text));
  loaded.set(name, asset);
  return asset;
}

const FOLDER = "/docs/";

/**
 * Serves the files of Swagger UI to everybody. It comes before the check of the API key for the same reason as
 * `servePages`: the documentation's contents come from `/openapi.json`, which needs the key.
 */
export const serveSwagger: Layer = (next) => async (exchange) => {
  const { request, path } = exchange;
  if (request.method !== "GET" && request.method !== "HEAD") return next(exchange);
  const file = path.startsWith(FOLDER) ? await load(path.slice(FOLDER.length)) : null;
  // Another version of the program may have other files under the same names.
  return file ? await answer(exchange, file, "public, max-age=300") : await next(exchange);
};
