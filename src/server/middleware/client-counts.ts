import { subscriberNetwork } from "../../fetching/index.ts";
import type { Client } from "./exchange.ts";

/**
 * Counts how much of a scarce resource each client uses. A client is an IPv4 address, or the network of an
 * IPv6 address.
 */
export class ClientCounts {
  readonly #held = new Map<string, number>();
  #total = 0;

  /** The total of all clients. */
  get total(): number {
    return this.#total;
  }

  /** Counts one more, and one less when the result is disposed of; null for a client that has `max` already. */
  take({ address }: Client, max: number): Disposable | null {
    const key = subscriberNetwork(address);
    const held = this.#held.get(key) ?? 0;
    if (held >= max) return null;
    this.#held.set(key, held + 1);
    this.#total++;
    return {
      [Symbol.dispose]: () => {
        const left = (this.#held.get(key) ?? 1) - 1;
        if (left === 0) this.#held.delete(key);
        else this.#held.set(key, left);
        this.#total--;
      },
    };
  }
}
