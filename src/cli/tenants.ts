import { type OpenTenants, openTenantApp, openTenants } from "../app/index.ts";
import { describeReasons, type TenantStatus } from "../tenants/index.ts";
import { openDeployment } from "./deployment.ts";
import type { CommandParts } from "./program.ts";

/** Opens the tenants for one command; an interruption stops their work. @throws Failure as `openDeployment` */
export async function openCommandTenants(parts: CommandParts): Promise<OpenTenants> {
  const { program, deployment } = await openDeployment(parts);
  const log = program.openLog("critical");
  const app = openTenantApp(program, { deployment, log });
  const tenants = openTenants(program, { deployment, app, log });
  const close = async (): Promise<void> => {
    await tenants[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  };
  const stop = (): void => void tenants.registry[Symbol.asyncDispose]();
  parts.io.signal.addEventListener("abort", stop, { once: true });
  return { ...tenants, [Symbol.asyncDispose]: close };
}

/** Says how many files are not in an index, for the end of a line; empty when all are. @param how names them */
export function describeLeftOut(leftOut: TenantStatus["leftOut"], how: string): string {
  const reasons = describeReasons(leftOut);
  return reasons === "" ? "" : `; left out: ${reasons}${how}`;
}

/** Says what a sync left out and why, for the end of a line; empty when there is nothing to say. */
export function describeCut(counts: TenantStatus["counts"]): string {
  const { left = 0, notes = [] } = counts ?? {};
  const cut = `max_crawl_pages left ${left} known ${left === 1 ? "page" : "pages"} unfetched`;
  return [...(left > 0 ? [cut] : []), ...notes].map((note) => `; ${note}`).join("");
}
