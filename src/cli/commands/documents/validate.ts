import { foreignStates, sourceProblems } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import { listDocuments, type PathRules } from "../../../search/index.ts";
import type { Deployment } from "../../../settings/index.ts";
import { openDeployment } from "../../deployment.ts";
import { isFolder } from "../../input.ts";
import { wrongUsage } from "../../io.ts";
import type { Run } from "../../shell.ts";

/**
 * Runs `validate` and returns the exit code. It refuses what a server would refuse for its settings in this
 * environment; variables with tokens only need to be set where the server runs.
 * @throws Failure as `openDeployment`
 */
export const validate: Run = async (shell) => {
  const [file, ...more] = shell.typed.positionals;
  if (file === undefined || more.length > 0)
    throw wrongUsage("validate takes one file: article-extractor validate deployment.json");
  const { program, deployment } = await openDeployment(shell, file);
  const { tenants, warnings } = deployment;
  const { refused, unset } = sourceProblems(deployment, program);
  const folders = await folderProblems(deployment);
  for (const warning of [...warnings, ...unset, ...folders, ...foreignStates(program, deployment)])
    shell.notices.warn(`${file}: ${warning}`);
  if (refused.length > 0)
    throw new Failure("invalid_settings", refused.map((problem) => `${file}: ${problem}`).join("\n"));
  const count = `${tenants.length} ${tenants.length === 1 ? "tenant" : "tenants"}`;
  await shell.io.stdout.write(`${file} is valid: ${count}\n`);
  return 0;
};

/** Lists missing folders, and patterns that choose nothing in existing folders. */
async function folderProblems({ tenants }: Deployment): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [index, tenant] of tenants.entries()) {
    if (tenant.source !== "filesystem") continue;
    const { codename, rootDir, rules } = tenant;
    const where = (field: string): string => `tenants[${index}].${field}: Tenant '${codename}'`;
    // The folder may be mounted later, or only where the server runs.
    if (!isFolder(rootDir)) problems.push(`${where("docs_root_dir")}: there is no folder ${rootDir}`);
    else
      for (const [place, pattern] of rules.include.entries())
        if (!(await choosesSome(rootDir, { ...rules, include: [pattern] })))
          problems.push(
            `${where(`include[${place}]`)}: no document in ${rootDir} matches ${JSON.stringify(pattern)}`,
          );
  }
  return problems;
}

/** Also true for a folder that cannot be read, of which nothing is known. */
async function choosesSome(folder: string, rules: PathRules): Promise<boolean> {
  try {
    for await (const _ of listDocuments(folder, { rules })) return true;
    return false;
  } catch (error) {
    if (error instanceof Failure) return true;
    throw error;
  }
}
