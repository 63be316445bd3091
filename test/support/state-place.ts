import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The key of a tenant whose state is in a state directory; the only one of its codename there. */
export function keyIn(stateDirectory: string, codename: string): string {
  const found = readdirSync(stateDirectory).filter((name) => name.startsWith(`${codename}@`));
  if (found[0] === undefined || found.length > 1)
    throw new Error(`${found.length} places of ${codename} in ${stateDirectory}`);
  return found[0];
}

/** The index file of such a tenant. */
export const indexIn = (stateDirectory: string, codename: string): string =>
  join(stateDirectory, keyIn(stateDirectory, codename), "search.index");
