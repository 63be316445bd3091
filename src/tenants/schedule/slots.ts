import { pause } from "../../base/abort.ts";
import { holdLease, type Leases } from "../../base/database/index.ts";
import { Failure } from "../../base/failure.ts";

export type SlotOptions = {
  readonly leases: Leases;
  /** The owner name of this process. */
  readonly owner: string;
  readonly signal: AbortSignal;
  /** Called when the lease could not be renewed just now. */
  readonly onError: (error: unknown) => void;
};

/** The most simultaneous syncs, over all processes that share the state. */
const SLOTS = 2;
const LEASE_MS = 15_000;
const LOOK_EVERY_MS = 250;

/**
 * Waits for one of the slots for syncs.
 * @throws Failure `cancelled` when the signal aborts
 */
export async function takeSyncSlot({ leases, owner, signal, onError }: SlotOptions): Promise<Disposable> {
  // The holder has a name of its own, because one process may hold both slots.
  const holder = `${owner}:${crypto.randomUUID()}`;
  for (;;) {
    if (signal.aborted) throw calledOff();
    for (let slot = 0; slot < SLOTS; slot++) {
      // A process that slept this long has also lost its tenant, which ends the sync.
      const onLost = (): void => {};
      const name = `sync-slot:${slot}`;
      const held = holdLease({ leases, name, owner: holder, ttlMs: LEASE_MS, onLost, onError });
      if (held) return held;
    }
    await pause(LOOK_EVERY_MS, signal);
  }
}

const calledOff = (): Failure => new Failure("cancelled", "waiting for a place to sync was called off");
