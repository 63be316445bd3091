/** A file inside the program that browsers load. */
export type EmbeddedFile = {
  readonly type: string;
  /** Where the program keeps it: what `import … with { type: "file" }` gives; or the text itself. */
  readonly source: { readonly path: string } | { readonly text: string };
};

/** A page with what it loads; nothing of it comes from elsewhere. */
export type EmbeddedPage = {
  readonly html: string;
  /** Scripts, styles and pictures by the name under which the page asks for them. */
  readonly files: Readonly<Record<string, EmbeddedFile>>;
};

// Only what this server itself serves runs, loads or is connected to; the page is in no frame.
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

/** One of its files; null for a name that it does not have. */
export function fileResponse({ files }: EmbeddedPage, name: string): Response | null {
  const file = Object.hasOwn(files, name) ? files[name] : undefined;
  if (!file) return null;
  const body = "text" in file.source ? file.source.text : Bun.file(file.source.path);
  return new Response(body, {
    // Another version of the program has other files under the same names.
    headers: { "content-type": file.type, "cache-control": "public, max-age=300" },
  });
}
