import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { FairQueue } from "../../../src/base/fair-queue.ts";

function queueOf(items: readonly string[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const item of items) queue.push(item[0] ?? "", item);
  return queue;
}

function drain(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

describe("turns", () => {
  test("rotate among the clients, and follow the order of arrival within one", () => {
    expect(drain(queueOf(["a1", "a2", "a3", "b1", "c1", "c2"]))).toEqual("a1 b1 c1 a2 c2 a3".split(" "));
    expect(drain(queueOf([]))).toEqual([]);
  });

  test("of a new client come after one turn of each waiting client", () => {
    const queue = queueOf(["a1", "a2", "a3", "b1"]);
    expect(queue.take()).toBe("a1");
    queue.push("c", "c1");
    expect(drain(queue)).toEqual(["b1", "a2", "c1", "a3"]);
  });

  test("that are given up go to nobody, and cost the client none of its others", () => {
    const queue = queueOf(["a1", "a2", "b1"]);
    expect([queue.remove("a1"), queue.remove("a1"), queue.size]).toEqual([true, false, 2]);
    expect(drain(queue)).toEqual(["a2", "b1"]);
  });

  test("may go to a wanted item out of order; the others keep their place", () => {
    const queue = queueOf(["a1", "a2", "b1", "b2"]);
    expect(queue.take((item) => item.endsWith("2"))).toBe("a2");
    expect(queue.take((item) => item.endsWith("9"))).toBeUndefined();
    expect(drain(queue)).toEqual(["b1", "a1", "b2"]);
  });

  test("reach everybody: no client gets two before another waiting client gets one, and nothing is lost", () => {
    const clients = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 60 });
    fc.assert(
      fc.property(clients, (owners) => {
        const items = owners.map((owner, index) => `${owner}${index}`);
        const queue = queueOf(items);
        const left = new Map<string, number>();
        for (const owner of owners) left.set(owner, (left.get(owner) ?? 0) + 1);
        const taken = drain(queue);
        expect([...taken].sort()).toEqual([...items].sort());
        const sinceTurn = new Map<string, number>();
        for (const item of taken) {
          const owner = item[0] ?? "";
          for (const [other, count] of left) {
            if (other === owner || count === 0) continue;
            sinceTurn.set(other, (sinceTurn.get(other) ?? 0) + 1);
            expect(sinceTurn.get(other)).toBeLessThan(4);
          }
          sinceTurn.set(owner, 0);
          left.set(owner, (left.get(owner) ?? 1) - 1);
        }
      }),
    );
  });
});
