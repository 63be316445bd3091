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

  of({ address }: Client): number {
    return this.#held.get(subscriberNetwork(address)) ?? 0;
  }

  /** Counts one more; disposing of the result counts one less. */
  take({ address }: Client): Disposable {
    const key = subscriberNetwork(address);
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
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
