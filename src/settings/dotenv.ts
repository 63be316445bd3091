import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { Failure } from "../failure.ts";
import type { Environment } from "./environment.ts";

export type DotenvPlaces = {
  /** The program's own file; a `.env` beside it is read when there is one. */
  readonly executablePath: string;
  /** A file that the user named; it must exist, and stands in for the one beside the program. */
  readonly envFile: string | null;
};

/**
 * The process's variables laid over those of one `.env` file. The current directory's is never read:
 * a hostile checkout must not choose a proxy or a browser (DECISIONS section 5).
 * @throws Failure `invalid_settings` when the named file cannot be read
 */
export function withDotenv(environment: Environment, { executablePath, envFile }: DotenvPlaces): Environment {
  const contents = envFile === null ? readBeside(executablePath) : readNamed(envFile);
  if (contents === null) return environment;
  const set = Object.entries(environment).filter(([, value]) => value !== undefined);
  return { ...parseEnv(contents), ...Object.fromEntries(set) };
}

function readBeside(executablePath: string): string | null {
  try {
    return readFileSync(join(dirname(executablePath), ".env"), "utf8");
  } catch {
    return null; // there need not be one
  }
}

function readNamed(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? "unknown error";
    throw new Failure("invalid_settings", `--env-file ${path} cannot be read (${reason})`, { cause });
  }
}
