import { Failure } from "../../base/failure.ts";
import { VERSION } from "../../base/version.ts";
import { type Command, EXTRACT_COMMAND, requireCommand } from "../commands.ts";
import { wrongUsage } from "../io.ts";
import { type Run, requireNoArguments, type Shell } from "../shell.ts";

const MAX_HELP_WIDTH = 100;

/** Prints the help of a command; null for an overview of the program. */
export async function printHelp(command: Command | null, { io, paint }: Shell): Promise<number> {
  const { formatHelp, formatOverview } = await import("../help.ts");
  const look = { width: Math.min(MAX_HELP_WIDTH, io.stdout.columns), paint: paint() };
  await io.stdout.write(command === null ? formatOverview(look) : formatHelp(command, look));
  return 0;
}

export const help: Run = async (shell) => {
  const [name, ...more] = shell.typed.positionals;
  if (more.length > 0) throw wrongUsage("help takes one command");
  return await printHelp(name === undefined ? EXTRACT_COMMAND : requireCommand(name), shell);
};

export const version: Run = (shell) => print(shell, async () => `article-extractor ${VERSION}\n`);

export const man: Run = (shell) => print(shell, async () => (await import("../manual.ts")).formatManual());

export const schema: Run = (shell) =>
  print(shell, async () => {
    const { deploymentJsonSchema } = await import("./deployment-schema.ts");
    return `${JSON.stringify(deploymentJsonSchema(), null, 2)}\n`;
  });

export const skill: Run = (shell) =>
  print(shell, async () => (await import("../skill.md", { with: { type: "text" } })).default);

/** Runs `licenses`: prints the licences of the software inside, which the build collects. */
export const licenses: Run = (shell) =>
  print(shell, async () => {
    try {
      // Embedded as text by the bundler; the file is made by scripts/build.ts.
      return (await import("../../../build/licenses.txt", { with: { type: "text" } })).default;
    } catch (cause) {
      const message = "the licences are collected when the program is built (make build)";
      throw new Failure("internal", message, { cause });
    }
  });

async function print({ typed, io }: Shell, format: () => Promise<string>): Promise<number> {
  requireNoArguments(typed);
  await io.stdout.write(await format());
  return 0;
}

export const completions: Run = async (shell) => {
  const { io, typed } = shell;
  const [name = "", ...more] = typed.positionals;
  // The scripts ask for them at each press of the tab key.
  if (name === "tenants" && more.length === 0) return await tenants(shell);
  const { formatCompletions, SHELLS } = await import("../completions.ts");
  if (typed.positionals.length !== 1) throw wrongUsage(`completions takes one shell: ${SHELLS.join(", ")}`);
  await io.stdout.write(formatCompletions(name));
  return 0;
};

async function tenants(shell: Shell): Promise<number> {
  const { openDeployment } = await import("../deployment.ts");
  const { deployment } = await openDeployment(shell);
  await shell.io.stdout.write(deployment.tenants.map(({ codename }) => `${codename}\n`).join(""));
  return 0;
}
