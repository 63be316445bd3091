/** A type that an Accept header names, in lower case: `text/html`, `text/*`. */
export type AcceptedType = { readonly type: string; readonly weight: number };

/** The rest of a longer header is ignored. */
const MAX_ACCEPT = 1000;

/** Reads an Accept header (RFC 9110, section 12.5.1) in its own order; refused types have the weight 0. */
export const acceptedTypes = (accept: string | null): AcceptedType[] =>
  (accept ?? "")
    .slice(0, MAX_ACCEPT)
    .split(",")
    .map((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
      const written = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
      return { type, weight: written === undefined ? 1 : Number(written) || 0 };
    });

/** Whether HTML is named and JSON does not weigh more, as in browsers; a bare wildcard means a program. */
export function prefersHtml(accept: string | null): boolean {
  const named = acceptedTypes(accept);
  const weightOf = (types: readonly string[]): number =>
    Math.max(0, ...named.filter(({ type }) => types.includes(type)).map(({ weight }) => weight));
  const html = weightOf(["text/html", "application/xhtml+xml"]);
  return html > 0 && html >= weightOf(["application/json"]);
}
