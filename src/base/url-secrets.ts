/**
 * Removes possible secrets from the addresses in a text (http, https, postgres): the user and password, the query and
 * the fragment, where other sites put their tokens.
 */
export function withoutUrlSecrets(text: string): string {
  return text.includes("://")
    ? text.replace(/(?:https?|postgres(?:ql)?):\/\/[^\s"'<>]*/gi, shownAddress)
    : text;
}

function shownAddress(address: string): string {
  const start = address.indexOf("://") + 3;
  const host = hostStart(address, start);
  const rest = host === start ? address.slice(start) : `…${address.slice(host - 1)}`;
  const shown = address.slice(0, start) + rest;
  const queryAt = shown.search(/[?#]/);
  if (queryAt < 0) return shown;
  // Punctuation of the surrounding sentence does not belong to the query.
  const mark = /[:;,.)]$/.exec(shown)?.[0] ?? "";
  return `${shown.slice(0, queryAt + 1)}…${mark}`;
}

/**
 * The position where the host begins, after the user and password, even if these contain an unescaped `/`, `?` or `#`.
 */
function hostStart(address: string, start: number): number {
  const at = address.lastIndexOf("@");
  if (at < start) return start;
  const end = address.slice(start).search(/[/?#]/);
  const authority = end < 0 ? address.slice(start) : address.slice(start, start + end);
  const own = authority.lastIndexOf("@");
  if (own >= 0) return start + own + 1;
  const isHost = /^(?:\[[^\]]*\]|[^:[\]]*)(?::\d*)?$/.test(authority);
  return isHost ? start : at + 1;
}
