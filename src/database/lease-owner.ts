import { hostname } from "node:os";

/** The name of this process in leases: its machine and number, and what no other process of any time has. */
export const newLeaseOwner = (): string => `${hostname()}:${process.pid}:${crypto.randomUUID()}`;

/**
 * Whether the process of this name has surely died; then nobody has to wait for its leases. Containers that
 * share a directory have names of their own, so their numbers are not mixed up.
 */
export function hasDied(owner: string): boolean {
  const [machine, pid] = owner.split(":");
  if (machine !== hostname() || !/^\d+$/.test(pid ?? "")) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
