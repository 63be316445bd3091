import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { Failure } from "../base/failure.ts";
import { systemCode, systemReason } from "../base/system-error.ts";
import type { Environment } from "./environment.ts";

export type DotenvPlaces = {
  /** The path of the program itself; an `.env` file beside it is read. */
  readonly executablePath: string;
  /** A file that the user named. It must exist, and is read instead of the one beside the program. */
  readonly envFile: string | null;
};

/**
 * Adds the variables of one `.env` file below those of the process. The current directory's file is never
 * read: a hostile checkout must not choose a proxy or a browser.
 * @throws Failure `invalid_settings` when the named file, or one that exists beside the program, cannot be
 * read
 */
export function withDotenv(environment: Environment, { executablePath, envFile }: DotenvPlaces): Environment {
  const contents = envFile === null ? readBeside(executablePath) : readNamed(envFile);
  if (contents === null) return environment;
  const set = Object.entries(environment).filter(([, value]) => value !== undefined);
  return { ...parseEnv(contents), ...Object.fromEntries(set) };
}

// The file is optional, and a directory of that name is somebody's virtual environment. But settings that
// exist and cannot be read must not be ignored: they may name the proxy or the egress policy.
const IS_NONE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

function readBeside(executablePath: string): string | null {
  const path = join(dirname(executablePath), ".env");
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (IS_NONE.has(systemCode(cause) ?? "")) return null;
    throw unreadable(path, cause);
  }
}

function readNamed(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw unreadable(`--env-file ${path}`, cause);
  }
}

function unreadable(name: string, cause: unknown): Failure {
  return new Failure("invalid_settings", `${name} cannot be read: ${systemReason(cause)}`, { cause });
}
