/** A queue of many clients: turns rotate among the clients, and each client's items keep their order. */
export class FairQueue<T> {
  /** Items by client, in the order of the next turns; none is empty. */
  readonly #byClient = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(client: string, item: T): void {
    const own = this.#byClient.get(client);
    if (own) own.push(item);
    else this.#byClient.set(client, [item]);
    this.#size++;
  }

  /** Takes the next item out. @param isWanted other items keep their place; by default all are wanted */
  take(isWanted: (item: T) => boolean = () => true): T | undefined {
    for (const [client, own] of this.#byClient) {
      const position = own.findIndex(isWanted);
      if (position < 0) continue;
      const [item] = own.splice(position, 1);
      this.#size--;
      // The client moves behind all others.
      this.#byClient.delete(client);
      if (own.length > 0) this.#byClient.set(client, own);
      return item;
    }
    return undefined;
  }

  /** Removes an item that gives up. @returns whether it was there */
  remove(item: T): boolean {
    for (const [client, own] of this.#byClient) {
      const position = own.indexOf(item);
      if (position < 0) continue;
      own.splice(position, 1);
      if (own.length === 0) this.#byClient.delete(client);
      this.#size--;
      return true;
    }
    return false;
  }
}
