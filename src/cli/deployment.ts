import { dirname, resolve } from "node:path";
import { sourceProblems } from "../app/index.ts";
import { Failure } from "../base/failure.ts";
import { type Deployment, MAX_DEPLOYMENT_BYTES, readDeployment, readSettings } from "../settings/index.ts";
import type { Typed } from "./arguments.ts";
import { readEnvironment, warnOfMisspelt } from "./environment.ts";
import { readText } from "./input.ts";
import type { Io } from "./io.ts";
import type { Notices } from "./notices.ts";

/**
 * Reads a deployment file.
 * @throws Failure `unreadable_input`; `invalid_settings` with a line for each problem
 */
export async function loadDeployment(path: string, io: Io): Promise<Deployment> {
  const text = await readText(path, io, MAX_DEPLOYMENT_BYTES);
  return readDeployment(text, { name: path, directory: dirname(resolve(path)) });
}

export type ValidateParts = {
  readonly typed: Typed;
  readonly io: Io;
  readonly notices: Notices;
};

/**
 * Runs `validate`; returns the exit code. What a server refuses for its settings is refused here too, by those of
 * this environment; variables that hold tokens need only be set where the server runs.
 * @throws Failure as `loadDeployment`; `invalid_settings` of the environment
 */
export async function runValidate({ typed, io, notices }: ValidateParts): Promise<number> {
  const [file, ...more] = typed.positionals;
  if (file === undefined || more.length > 0)
    throw new Failure("invalid_usage", "validate takes one file: article-extractor validate deployment.json");
  const deployment = await loadDeployment(file, io);
  const { tenants, warnings } = deployment;
  const environment = readEnvironment(typed, io);
  warnOfMisspelt(environment, { io, notices, deployment });
  const { refused, unset } = sourceProblems(deployment, { settings: readSettings(environment), environment });
  for (const warning of [...warnings, ...unset]) notices.warn(`${file}: ${warning}`);
  if (refused.length > 0)
    throw new Failure("invalid_settings", refused.map((problem) => `${file}: ${problem}`).join("\n"));
  await io.stdout.write(
    `${file} is valid: ${tenants.length} ${tenants.length === 1 ? "tenant" : "tenants"}\n`,
  );
  return 0;
}
