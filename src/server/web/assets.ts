import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { acceptedTypes, type Exchange } from "../middleware/exchange.ts";
import icon from "./page/icon.svg" with { type: "text" };

/** A file that a browser may request. */
export type WebAsset = {
  readonly body: string;
  /** The file's Content-Security-Policy. */
  readonly policy: string;
  readonly contentType: string;
  /** The ETag as in the header; weak, because it stands for the file with and without compression. */
  readonly etag: string;
  /** Compresses the body, once. */
  readonly gzipped: () => Promise<Uint8Array<ArrayBuffer>>;
};

/** A page with everything that it loads. */
export type WebPage = {
  readonly html: WebAsset;
  /** Files by path below the page. A path contains the hash of the content, so the content never changes. */
  readonly assets: ReadonlyMap<string, WebAsset>;
};

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** How all pages begin; head and body need no tags. */
const HEAD = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="{{icon.svg}}" type="image/svg+xml">
`;

/**
 * Assembles a page of its title, styles, scripts and content: `{{name}}` in the HTML becomes the asset's relative
 * address, `assets/HASH.name`. `{{style name}}` and `{{script name}}` become the file itself in its element, so that
 * the first picture waits for no second request.
 * @throws Error for a placeholder that names no asset
 */
export function createWebPage(
  content: unknown,
  files: Readonly<Record<string, string>>,
  rules: PolicyRules = {},
): WebPage {
  // The types of Bun know imported HTML as the page of a server only; imported as text it is text.
  const html = `${HEAD}${content}`;
  const assets = new Map<string, WebAsset>();
  const paths = new Map<string, string>();
  for (const [name, source] of Object.entries({ "icon.svg": icon, ...files })) {
    if (html.includes(` ${name}}}`)) continue;
    const path = `assets/${hashOf(source)}.${name}`;
    paths.set(name, path);
    assets.set(path, assetOf(name, source));
  }
  const inlined: string[] = [];
  const filled = html.replace(
    /\{\{(?:(style|script) )?([\w.-]+)\}\}/g,
    (_, element: string | undefined, name: string) => {
      const text = element === undefined ? paths.get(name) : files[name];
      if (text === undefined) throw new Error(`the page names ${name}, which is not an asset`);
      if (element === undefined) return text;
      inlined.push(text);
      return `<${element}>${text}</${element}>`;
    },
  );
  return { html: assetOf("page.html", filled, policyWith(inlined, rules)), assets };
}

/**
 * @param name its ending tells the content type
 * @throws Error for an asset of an unknown kind
 */
export function assetOf(name: string, body: string, policy: string = policyWith([])): WebAsset {
  const contentType = CONTENT_TYPES[name.slice(name.lastIndexOf(".") + 1)];
  if (contentType === undefined) throw new Error(`no content type is known for ${name}`);
  let compressed: ReturnType<WebAsset["gzipped"]> | undefined;
  const gzipped: WebAsset["gzipped"] = () => {
    compressed ??= promisify(gzip)(body);
    return compressed;
  };
  return { body, policy, contentType, etag: `W/"${hashOf(body)}"`, gzipped };
}

/** A name for a content, in letters and digits. */
const hashOf = (body: string): string =>
  createHash("sha256").update(body).digest("base64url").slice(0, 16).replaceAll(/[-_]/g, "0");

type PolicyRules = {
  /** The page runs a script that makes markup of text, and so it is without Trusted Types, and without pictures of others. */
  readonly writesMarkup?: boolean;
};

/**
 * Returns the policy of a page: it may load its own files, send requests to its own server, and show pictures, which it
 * does only after a click. Text can never become markup or script (Trusted Types), and nothing may frame the page.
 * @param inlined the styles and scripts inside the page itself
 */
function policyWith(inlined: readonly string[], { writesMarkup = false }: PolicyRules = {}): string {
  const hashes = inlined.map((text) => ` 'sha256-${createHash("sha256").update(text).digest("base64")}'`);
  return [
    "default-src 'none'",
    `script-src 'self'${hashes.join("")}`,
    `style-src 'self'${hashes.join("")}`,
    "connect-src 'self'",
    `img-src 'self' data:${writesMarkup ? "" : " https: http:"}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...(writesMarkup ? [] : ["require-trusted-types-for 'script'", "trusted-types 'none'"]),
  ].join("; ");
}

/** Answers with a file, compressed where the client takes that; in short when the client has it already. */
export async function answer(
  { request }: Exchange,
  asset: WebAsset,
  cacheControl: string,
): Promise<Response> {
  const headers = {
    "content-type": asset.contentType,
    "content-security-policy": asset.policy,
    "cache-control": cacheControl,
    etag: asset.etag,
    vary: "Accept-Encoding",
  };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  const isKnown = known.some((one) => one.trim().replace(/^(?!W\/)/, "W/") === asset.etag);
  if (isKnown) return new Response(null, { status: 304, headers });
  if (!takesGzip(request)) return new Response(asset.body, { headers });
  return new Response(await asset.gzipped(), { headers: { ...headers, "content-encoding": "gzip" } });
}

const takesGzip = ({ headers }: Request): boolean =>
  acceptedTypes(headers.get("accept-encoding")).some(({ type, weight }) => type === "gzip" && weight > 0);
