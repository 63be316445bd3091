import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { PlacedDeployment, Program } from "../app/index.ts";
import { Failure } from "../base/failure.ts";
import { MAX_DEPLOYMENT_BYTES, readDeployment, type Settings } from "../settings/index.ts";
import { readText } from "./input.ts";
import { type Io, wrongUsage } from "./io.ts";
import { optionValue } from "./option-values.ts";
import { type CommandParts, readCommandProgram, warnOfMisspelt } from "./program.ts";

/** The program and the deployment file that a command works with. */
export type DeployedProgram = { readonly program: Program; readonly deployment: PlacedDeployment };

/** Returns the value of `--config`; null means the environment's file, then `./deployment.json`. */
const configOf = ({ typed }: CommandParts): string | null => optionValue.text(typed, "config");

/** Reads the program and the requested deployment file. @throws Failure `unreadable_input`, `invalid_settings` */
export async function openDeployment(
  parts: CommandParts,
  config = configOf(parts),
): Promise<DeployedProgram> {
  const program = await readCommandProgram(parts);
  const deployment = await chooseDeployment(config, program.settings, parts.io);
  warnOfMisspelt(program.environment, deployment, parts);
  return { program, deployment };
}

/**
 * Does the same for a program that also runs without a deployment file; a file that is found in the current directory
 * and cannot be read is ignored, because it may belong to another program.
 * @throws Failure as `openDeployment`, of a file that was named
 */
export async function openOptionalDeployment(
  parts: CommandParts,
): Promise<Pick<DeployedProgram, "program"> & { readonly deployment: PlacedDeployment | null }> {
  const program = await readCommandProgram(parts);
  const named = configOf(parts) ?? program.settings.deploymentConfig;
  const find = async () => (existsSync(DEFAULT_CONFIG) ? await loadFound(parts) : null);
  const deployment = named === null ? await find() : await loadDeployment(named, parts.io);
  warnOfMisspelt(program.environment, deployment, parts);
  return { program, deployment };
}

async function loadFound({ io, notices }: CommandParts): Promise<PlacedDeployment | null> {
  try {
    return await loadDeployment(DEFAULT_CONFIG, io);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    notices.warn(`${DEFAULT_CONFIG} is left out: ${error.message}`);
    return null;
  }
}

/** The path of the deployment file when nothing names one. */
export const DEFAULT_CONFIG = "deployment.json";

/** Reads the requested deployment file. @throws Failure `unreadable_input`; `invalid_settings`, a line a problem */
export async function chooseDeployment(
  config: string | null,
  settings: Settings,
  io: Io,
): Promise<PlacedDeployment> {
  const named = config ?? settings.deploymentConfig;
  if (named === null && !existsSync(DEFAULT_CONFIG))
    throw wrongUsage(
      `there is no ${DEFAULT_CONFIG} here: name a deployment file with --config, or in DEPLOYMENT_CONFIG`,
    );
  return await loadDeployment(named ?? DEFAULT_CONFIG, io);
}

/** Reads a deployment file. @throws Failure `unreadable_input`; `invalid_settings` with a line for each problem */
export const loadDeployment = async (path: string, io: Io): Promise<PlacedDeployment> =>
  placeDeployment(path, await readDeploymentText(path, io));

/** @throws Failure `unreadable_input` */
export const readDeploymentText = (path: string, io: Io): Promise<string> =>
  readText(path, io, MAX_DEPLOYMENT_BYTES);

/** Reads the text of a file at a path. @throws Failure `invalid_settings` with a line for each problem */
export function placeDeployment(path: string, text: string): PlacedDeployment {
  const deployment = readDeployment(text, { name: path, directory: dirname(resolve(path)) });
  return { ...deployment, path: resolve(path), text };
}
