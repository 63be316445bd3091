const W3C_DATE =
  /^\d{4}(?:-\d\d(?:-\d\d(?<time>[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?<zone>Z|[+-]\d\d:?\d\d)?)?)?)?$/i;
const MAIL_DATE =
  /^(?:[a-z]{3,9},?\s+)?\d{1,2}\s+[a-z]{3,9}\s+\d{4}\s+\d\d:\d\d(?::\d\d)?(?:\s*(?<zone>[a-z]{1,4}|[+-]\d{4}))?$/i;

/**
 * A date of a sitemap (W3C Datetime) or a feed (RFC 822) as ISO 8601 in UTC, which a time without a zone is
 * taken for. Null for what is no date.
 */
export function parseLastModified(written: string): string | null {
  const text = written.trim();
  if (text.length > 64) return null;
  const w3c = W3C_DATE.exec(text);
  const mail = w3c ? null : MAIL_DATE.exec(text);
  if (!w3c && !mail) return null;
  const hasZone = (w3c ?? mail)?.groups?.zone !== undefined;
  const isDateOnly = w3c !== null && w3c.groups?.time === undefined;
  const plain = w3c ? text.toUpperCase().replace(" ", "T").replace(",", ".") : text;
  const time = Date.parse(hasZone || isDateOnly ? plain : `${plain}${w3c ? "Z" : " GMT"}`);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
