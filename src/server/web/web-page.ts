import { createHash } from "node:crypto";

/** A file that a browser may request. */
export type WebAsset = {
  readonly body: string;
  readonly contentType: string;
  /** The ETag with its quotes, as in the header. */
  readonly etag: string;
};

/** A page with everything that it loads. */
export type WebPage = {
  readonly html: WebAsset;
  /** Files by path below the page. A path contains the hash of the content, so the content never changes. */
  readonly assets: ReadonlyMap<string, WebAsset>;
};

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Assembles a page: `{{name}}` in the HTML becomes the asset's relative address, `assets/HASH.name`.
 * @throws Error for an asset of an unknown kind, and for a placeholder that names no asset
 */
export function createWebPage(html: string, files: Readonly<Record<string, string>>): WebPage {
  const assets = new Map<string, WebAsset>();
  const paths = new Map<string, string>();
  for (const [name, body] of Object.entries(files)) {
    const contentType = CONTENT_TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (contentType === undefined) throw new Error(`no content type is known for ${name}`);
    const path = `assets/${hashOf(body)}.${name}`;
    paths.set(name, path);
    assets.set(path, { body, contentType, etag: `"${hashOf(body)}"` });
  }
  const filled = html.replace(/\{\{([\w.-]+)\}\}/g, (_, name: string) => {
    const path = paths.get(name);
    if (path === undefined) throw new Error(`the page names ${name}, which is no asset`);
    return path;
  });
  const page = { body: filled, contentType: "text/html; charset=utf-8", etag: `"${hashOf(filled)}"` };
  return { html: page, assets };
}

const hashOf = (body: string): string =>
  createHash("sha256").update(body).digest("base64url").slice(0, 16).replaceAll(/[-_]/g, "0");
