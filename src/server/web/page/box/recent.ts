/** A place that a reader chose. */
export type Chosen = { readonly url: string; readonly title: string; readonly name: string };

const KEY = "docs-search.recent";
const MAX_KEPT = 5;

/** The places that were chosen last, the newest first; none where the browser keeps nothing. */
export function recentChoices(server: string): readonly Chosen[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(`${KEY} ${server}`) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isChosen).slice(0, MAX_KEPT) : [];
  } catch {
    return [];
  }
}

export function keepChoice(server: string, chosen: Chosen): void {
  const others = recentChoices(server).filter(({ url }) => url !== chosen.url);
  write(server, [chosen, ...others].slice(0, MAX_KEPT));
}

export const forgetChoices = (server: string): void => write(server, []);

function write(server: string, choices: readonly Chosen[]): void {
  try {
    if (choices.length === 0) localStorage.removeItem(`${KEY} ${server}`);
    else localStorage.setItem(`${KEY} ${server}`, JSON.stringify(choices));
  } catch {
    // Some browsers forbid it; then nothing is kept.
  }
}

/** Other scripts of the site write into the same storage. */
const isChosen = (value: unknown): value is Chosen =>
  typeof value === "object" &&
  value !== null &&
  ["url", "title", "name"].every((name) => typeof Reflect.get(value, name) === "string") &&
  /^https?:/.test(String(Reflect.get(value, "url")));
