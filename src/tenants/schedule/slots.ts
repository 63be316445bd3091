import { setTimeout as sleep } from "node:timers/promises";
import type { Leases } from "../../database/index.ts";
import { Failure } from "../../failure.ts";

export type SlotOptions = {
  readonly leases: Leases;
  /** This process. */
  readonly owner: string;
  readonly signal: AbortSignal;
};

/** Syncs under way at once, in all processes that share the state (DECISIONS section 6, "Schedules"). */
const SLOTS = 2;
const LEASE_MS = 15_000;
const LOOK_EVERY_MS = 250;

/**
 * Waits for one of the places that syncs have.
 * @throws Failure `cancelled` when the signal aborts
 */
export async function takeSyncSlot({ leases, owner, signal }: SlotOptions): Promise<Disposable> {
  // Of its own: one process may hold both places.
  const holder = `${owner}:${crypto.randomUUID()}`;
  for (;;) {
    if (signal.aborted) throw calledOff();
    for (let slot = 0; slot < SLOTS; slot++) {
      const name = `sync-slot:${slot}`;
      if (!leases.take(name, holder, LEASE_MS)) continue;
      const timer = setInterval(() => leases.take(name, holder, LEASE_MS), LEASE_MS / 4);
      timer.unref?.();
      return {
        [Symbol.dispose]() {
          clearInterval(timer);
          leases.release(name, holder);
        },
      };
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

const calledOff = (): Failure => new Failure("cancelled", "waiting for a place to sync was called off");
