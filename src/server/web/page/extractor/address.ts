/** An address that somebody typed: the complete one, or what is wrong with it. */
export type Address =
  | { readonly url: string; readonly problem: null }
  | { readonly url: null; readonly problem: string };

/** Completes an address, because people omit the scheme and paste spaces around it. */
export function readAddress(written: string): Address {
  const text = written.trim();
  if (text === "") return { url: null, problem: "Paste the address of a page." };
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[\w.-]+:\d/.test(text) ? text : `https://${text}`;
  const url = URL.parse(whole);
  // Browsers write a space in a host as %20, which no host has.
  if (!url || url.hostname === "" || url.hostname.includes("%"))
    return { url: null, problem: `“${text.slice(0, 100)}” is no address.` };
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return { url: null, problem: `Only http and https pages can be fetched, not ${url.protocol}` };
  return { url: whole, problem: null };
}

/** The fragment that names the page to extract. */
export const pageHash = (url: string): string => `#${new URLSearchParams({ url })}`;

/** The page that the location names; null without one. */
export const readPageHash = (): string | null => new URLSearchParams(location.hash.slice(1)).get("url");
