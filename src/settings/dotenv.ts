import { createReadStream } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { EARLIER_VARIABLES } from "../base/earlier-names.ts";
import { Failure } from "../base/failure.ts";
import { editDistance } from "../base/nearest.ts";
import { systemCode, systemReason } from "../base/system-error.ts";
import { type Environment, VARIABLES } from "./environment.ts";

type DotenvPlaces = {
  /** The path of the program itself; an `.env` file beside it is read. */
  readonly executablePath: string;
  /** A file that the user named. It must exist, and is read instead of the one beside the program. */
  readonly envFile: string | null;
};

/**
 * Adds the variables of one `.env` file below those of the process. The current directory's file is never
 * read: a hostile checkout must not choose a proxy or a browser.
 * @throws Failure `invalid_settings` when the named file, or one that exists beside the program, cannot be
 * read, or is over 1 MiB
 */
export async function withDotenv(
  environment: Environment,
  { executablePath, envFile }: DotenvPlaces,
): Promise<Environment> {
  const path = envFile ?? join(dirname(executablePath), ".env");
  const contents = await readText(path).catch((cause: unknown) => {
    if (envFile === null && IS_NONE.has(systemCode(cause) ?? "")) return null;
    const name = envFile === null ? path : `--env-file ${path}`;
    throw new Failure("invalid_settings", `${name} cannot be read: ${systemReason(cause)}`, { cause });
  });
  if (contents === null) return environment;
  const set = Object.entries(environment).filter(([, value]) => value !== undefined);
  return { ...parseEnv(contents), ...Object.fromEntries(set) };
}

// The file beside the program is optional, and a directory of that name is somebody's virtual environment. But settings that
// exist and cannot be read must not be ignored: they may name the proxy or the egress policy.
const IS_NONE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

const MAX_BYTES = 2 ** 20;

// The file may be a pipe that nobody has written to yet: while it is awaited, signals must still end the program.
async function readText(path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of createReadStream(path, { end: MAX_BYTES })) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (bytes.length > MAX_BYTES) throw Object.assign(new Error(path), { code: "EFBIG" });
  return bytes.toString("utf8");
}

// Only names like these are compared; other programs' variables do not concern us.
const LIKE_OURS = /^(?:ARTICLES?_?EXTRACT(?:OR|ER|ION)?S?|DOCS?_?SEARCH)_?(.+)$/i;

/**
 * Finds variables that look like misspelt settings of this program, each with the similar setting: a letter or
 * two differ, the prefix is another one, or a word is left out. An empty variable counts as unset.
 * @param named further variables that are read, because a deployment file names them
 */
export function misspeltVariables(
  environment: Environment,
  named: ReadonlySet<string> = new Set(),
): readonly { readonly name: string; readonly meant: string }[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    const rest = LIKE_OURS.exec(name)?.[1];
    if (rest === undefined || KNOWN.has(name) || named.has(name) || !value?.trim()) return [];
    const meant = nearestSetting(name, rest.toUpperCase());
    return meant === null ? [] : [{ name, meant }];
  });
}

const NAMES = Object.values(VARIABLES).map(({ variable }) => variable);
const KNOWN: ReadonlySet<string> = new Set([...NAMES, ...Object.keys(EARLIER_VARIABLES)]);

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

/** The number of letters in which two names differ, at most a third of them; words left out at an end count as one. */
function distanceOf(written: string, name: string): number | null {
  const distance = editDistance(written, name);
  if (distance <= Math.floor(Math.max(written.length, name.length) / 3)) return distance;
  const isPart = written.length >= 4 && (name.endsWith(`_${written}`) || name.startsWith(`${written}_`));
  return isPart ? 1 : null;
}
