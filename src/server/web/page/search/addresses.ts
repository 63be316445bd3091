/** Formats an address for people: a path within its collection, or a web address without its scheme. */
export function shownAddress(url: string): string {
  const path = /^docs:\/\/[^/]*\/(.*)$/s.exec(url)?.[1];
  return decoded(path ?? url.replace(/^https?:\/\//, ""));
}

/** The steps that lead to a document in its collection, the last one first to go. */
export const stepsOf = (url: string): readonly string[] =>
  shownAddress(url)
    .split("/")
    .filter((step) => step !== "");

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
