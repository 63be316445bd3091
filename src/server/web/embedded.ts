/** A file inside the program that browsers load. */
export type EmbeddedFile = {
  readonly type: string;
  /** Its place in the program, from `import … with { type: "file" }`, or its text. */
  readonly source: { readonly path: string } | { readonly text: string };
};

/** A page with everything that it loads. */
export type EmbeddedPage = {
  readonly html: string;
  /** Scripts, styles and pictures by the name that the page uses. */
  readonly files: Readonly<Record<string, EmbeddedFile>>;
};

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

/** The page itself. */
export const pageResponse = ({ html }: EmbeddedPage): Response =>
  new Response(html, {
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": OWN_ONLY },
  });

/** Returns one of its files; null for an unknown name. */
export function fileResponse({ files }: EmbeddedPage, name: string): Response | null {
  const file = Object.hasOwn(files, name) ? files[name] : undefined;
  if (!file) return null;
  const body = "text" in file.source ? file.source.text : Bun.file(file.source.path);
  return new Response(body, {
    // Another version of the program may have other files under the same names.
    headers: { "content-type": file.type, "cache-control": "public, max-age=300" },
  });
}
