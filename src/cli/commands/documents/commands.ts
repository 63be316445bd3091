import type { Run } from "../../shell.ts";
import { isTravel, readFetchCommand, readIndexCommand, readSearchCommand } from "./options.ts";

// A folder needs none of the code that opens tenants, so each is loaded when needed.

export const index: Run = async (shell) => {
  if (isTravel(shell.typed)) return await (await import("./travel.ts")).runTravel(shell);
  const command = readIndexCommand(shell.typed);
  return command.kind === "folder"
    ? await (await import("./folder.ts")).runIndex(command, shell)
    : await (await import("./tenants.ts")).runTenantIndex(command, shell);
};

export const search: Run = async (shell) => {
  const command = readSearchCommand(shell.typed);
  return command.kind === "folder"
    ? await (await import("./folder.ts")).runSearch(command, shell)
    : await (await import("./tenants.ts")).runTenantSearch(command, shell);
};

export const fetchDocument: Run = async (shell) =>
  await (await import("./tenants.ts")).runTenantFetch(readFetchCommand(shell.typed), shell);
