import { editDistance } from "../base/nearest.ts";
import { type Environment, VARIABLES } from "./environment.ts";

/** A variable that nobody reads, and the setting that was probably meant. */
export type MisspeltVariable = { readonly name: string; readonly meant: string };

// Only names like these are compared; other programs' variables do not concern us.
const LIKE_OURS = /^(?:ARTICLES?_?EXTRACT(?:OR|ER|ION)?S?|DOCS?_?SEARCH)_?(.+)$/i;

/**
 * Finds variables that look like settings of this program but are none, with a similar setting: a letter or
 * two differ, the prefix is another one, or a word is left out. An empty variable counts as unset.
 * @param named more variables that are read, those that a deployment file names
 */
export function misspeltVariables(
  environment: Environment,
  named: ReadonlySet<string> = new Set(),
): readonly MisspeltVariable[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    const rest = LIKE_OURS.exec(name)?.[1];
    if (rest === undefined || KNOWN.has(name) || named.has(name) || !value?.trim()) return [];
    const meant = nearestSetting(name, rest.toUpperCase());
    return meant === null ? [] : [{ name, meant }];
  });
}

const NAMES = Object.values(VARIABLES).map(({ variable }) => variable);
const KNOWN: ReadonlySet<string> = new Set(NAMES);

function nearestSetting(name: string, rest: string): string | null {
  const near = NAMES.flatMap((variable) => {
    const distance = distanceOf(rest, LIKE_OURS.exec(variable)?.[1] ?? variable);
    return distance === null
      ? []
      : [{ variable, distance, whole: editDistance(name.toUpperCase(), variable) }];
  });
  near.sort((a, b) => a.distance - b.distance || a.whole - b.whole);
  return near[0]?.variable ?? null;
}

/**
 * The number of letters in which two names differ, at most a third of them; words left out at an end count as
 * one.
 */
function distanceOf(written: string, name: string): number | null {
  const distance = editDistance(written, name);
  if (distance <= Math.floor(Math.max(written.length, name.length) / 3)) return distance;
  const isPart = written.length >= 4 && (name.endsWith(`_${written}`) || name.startsWith(`${written}_`));
  return isPart ? 1 : null;
}
