import { hostname } from "node:os";
import type { Leases } from "../database/index.ts";

/** The name of this process in leases: its machine and number, and what no other process of any time has. */
export const newLeaseOwner = (): string => `${hostname()}:${process.pid}:${crypto.randomUUID()}`;

/**
 * Takes a lease, or renews it; also at once from a process of this machine that has died, for whose lease nobody has
 * to wait.
 */
export function takeLease(
  leases: Leases,
  name: string,
  { owner, ttlMs }: { owner: string; ttlMs: number },
): boolean {
  if (leases.take(name, owner, ttlMs)) return true;
  const holder = leases.holder(name);
  if (holder === null || !hasDied(holder)) return false;
  leases.release(name, holder);
  return leases.take(name, owner, ttlMs);
}

/** Containers that share a directory have names of their own, so their numbers are not mixed up. */
function hasDied(owner: string): boolean {
  const [machine, pid] = owner.split(":");
  if (machine !== hostname() || !/^\d+$/.test(pid ?? "")) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
