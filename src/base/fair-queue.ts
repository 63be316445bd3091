/** What waits for its turn, of many clients: turns go round among the clients, and within one in order of arrival. */
export class FairQueue<T> {
  /** In the order of the next turns; none is empty. */
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

  /** Takes the next one out. @param isWanted others keep their place; absent: all are wanted */
  take(isWanted: (item: T) => boolean = () => true): T | undefined {
    for (const [client, own] of this.#byClient) {
      const position = own.findIndex(isWanted);
      if (position < 0) continue;
      const [item] = own.splice(position, 1);
      this.#size--;
      // The client goes behind all others.
      this.#byClient.delete(client);
      if (own.length > 0) this.#byClient.set(client, own);
      return item;
    }
    return undefined;
  }

  /** Takes one out that gives up. @returns whether it was there */
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
