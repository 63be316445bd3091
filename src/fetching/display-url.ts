const MAX_SHOWN = 200;

/** A URL as messages and log lines show it: without credentials, cut at 200 characters. */
export function displayUrl(url: URL | string): string {
  const shown = typeof url === "string" ? URL.parse(url) : new URL(url);
  if (!shown) return "(not a URL)";
  // In any other scheme nobody knows which part is a credential: "user:secret@host" parses as the scheme
  // "user".
  if (shown.protocol !== "http:" && shown.protocol !== "https:") return "(not an http or https URL)";
  shown.username = "";
  shown.password = "";
  const text = shown.href;
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
