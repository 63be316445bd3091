import { sourceProblems } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
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
  for (const warning of [...warnings, ...unset]) parts.notices.warn(`${file}: ${warning}`);
  if (refused.length > 0)
    throw new Failure("invalid_settings", refused.map((problem) => `${file}: ${problem}`).join("\n"));
  await parts.io.stdout.write(
    `${file} is valid: ${tenants.length} ${tenants.length === 1 ? "tenant" : "tenants"}\n`,
  );
  return 0;
};
