import { partsOf, type Run, type Shell } from "../../shell.ts";
import { readFetchCommand, readIndexCommand, readSearchCommand } from "./options.ts";

// A folder needs none of the code that opens tenants, so each is loaded when needed.

/** Runs `index`. */
export const index: Run = async (shell) => {
  const command = readIndexCommand(shell.typed);
  return command.kind === "folder"
    ? await (await import("./folder.ts")).runIndex(command, partsOf(shell))
    : await (await import("./tenants.ts")).runTenantIndex(command, paintedParts(shell));
};

/** Runs `search`. */
export const search: Run = async (shell) => {
  const command = readSearchCommand(shell.typed);
  return command.kind === "folder"
    ? await (await import("./folder.ts")).runSearch(command, paintedParts(shell))
    : await (await import("./tenants.ts")).runTenantSearch(command, paintedParts(shell));
};

/** Runs `fetch`. */
export const fetchDocument: Run = async (shell) => {
  const { runTenantFetch } = await import("./tenants.ts");
  return await runTenantFetch(readFetchCommand(shell.typed), paintedParts(shell));
};

const paintedParts = (shell: Shell) => ({ ...partsOf(shell), paint: shell.paint() });
