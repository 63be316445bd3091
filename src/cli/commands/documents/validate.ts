import { statSync } from "node:fs";
import { sourceProblems } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { Deployment } from "../../../settings/index.ts";
import { openDeployment } from "../../deployment.ts";
import { partsOf, type Run } from "../../shell.ts";

/**
 * Runs `validate` and returns the exit code. It refuses what a server would refuse for its settings in this
 * environment; variables with tokens only need to be set where the server runs.
 * @throws Failure as `openDeployment`
 */
export const validate: Run = async (shell) => {
  const parts = partsOf(shell);
  const [file, ...more] = parts.typed.positionals;
  if (file === undefined || more.length > 0)
    throw new Failure("invalid_usage", "validate takes one file: article-extractor validate deployment.json");
  const { program, deployment } = await openDeployment(parts, file);
  const { tenants, warnings } = deployment;
  const { refused, unset } = sourceProblems(deployment, program);
  for (const warning of [...warnings, ...unset, ...missingFolders(deployment)])
    parts.notices.warn(`${file}: ${warning}`);
  if (refused.length > 0)
    throw new Failure("invalid_settings", refused.map((problem) => `${file}: ${problem}`).join("\n"));
  await parts.io.stdout.write(
    `${file} is valid: ${tenants.length} ${tenants.length === 1 ? "tenant" : "tenants"}\n`,
  );
  return 0;
};

// The folder may be mounted later, or only where the server runs.
const missingFolders = ({ tenants }: Deployment): readonly string[] =>
  tenants.flatMap(({ source, codename, rootDir }, index) =>
    source === "filesystem" && !isFolder(rootDir)
      ? [`tenants[${index}].docs_root_dir: Tenant '${codename}': there is no folder ${rootDir}`]
      : [],
  );

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
