import { keptList } from "../kept-list.ts";

/** A place that a reader chose. */
export type Chosen = { readonly url: string; readonly title: string; readonly name: string };

const MAX_KEPT = 5;

const listOf = (server: string) => keptList(`docs-search.recent ${server}`, MAX_KEPT, isChosen);

/** The places that were chosen last. */
export const recentChoices = (server: string): readonly Chosen[] => listOf(server).read();

export const keepChoice = (server: string, chosen: Chosen): void =>
  listOf(server).write([chosen, ...recentChoices(server).filter(({ url }) => url !== chosen.url)]);

export const forgetChoices = (server: string): void => listOf(server).write([]);

/** Other scripts of the site write into the same storage. */
const isChosen = (value: unknown): value is Chosen =>
  typeof value === "object" &&
  value !== null &&
  ["url", "title", "name"].every((name) => typeof Reflect.get(value, name) === "string") &&
  /^https?:/.test(String(Reflect.get(value, "url")));
