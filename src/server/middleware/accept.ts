/** A type that an Accept header names, in lower case: `text/html`, `text/*`. */
export type AcceptedType = { readonly type: string; readonly weight: number };

/** Of a longer header the rest is left out. */
const MAX_ACCEPT = 1000;

/** What an Accept header names (RFC 9110, section 12.5.1), as it is written; what is refused has the weight 0. */
export const acceptedTypes = (accept: string | null): AcceptedType[] =>
  (accept ?? "")
    .slice(0, MAX_ACCEPT)
    .split(",")
    .map((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
      const written = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
      return { type, weight: written === undefined ? 1 : Number(written) || 0 };
    });

/** Whether HTML is named, and not JSON with more weight, as browsers do: a bare wildcard is a program's. */
export function prefersHtml(accept: string | null): boolean {
  const named = acceptedTypes(accept);
  const weightOf = (types: readonly string[]): number =>
    Math.max(0, ...named.filter(({ type }) => types.includes(type)).map(({ weight }) => weight));
  const html = weightOf(["text/html", "application/xhtml+xml"]);
  return html > 0 && html >= weightOf(["application/json"]);
}
