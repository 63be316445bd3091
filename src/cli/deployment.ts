import { dirname, resolve } from "node:path";
import { Failure } from "../failure.ts";
import { type Deployment, MAX_DEPLOYMENT_BYTES, readDeployment } from "../settings/index.ts";
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

/**
 * Runs `validate`; returns the exit code.
 * @throws Failure as `loadDeployment`
 */
export async function runValidate(
  files: readonly string[],
  { io, notices }: { readonly io: Io; readonly notices: Notices },
): Promise<number> {
  const [file] = files;
  if (file === undefined || files.length > 1)
    throw new Failure("invalid_usage", "validate takes one file: article-extractor validate deployment.json");
  const { tenants, warnings } = await loadDeployment(file, io);
  for (const warning of warnings) notices.warn(`${file}: ${warning}`);
  await io.stdout.write(
    `${file} is valid: ${tenants.length} ${tenants.length === 1 ? "tenant" : "tenants"}\n`,
  );
  return 0;
}
