import { expect, test } from "bun:test";
import { onAbort } from "../../../src/fetching/on-abort.ts";

test("a signal carries one listener, whatever the number of actions", () => {
  const controller = new AbortController();
  let listeners = 0;
  const add = controller.signal.addEventListener.bind(controller.signal);
  controller.signal.addEventListener = (...listener: Parameters<typeof add>) => {
    listeners++;
    add(...listener);
  };
  const ran: number[] = [];
  const releases = Array.from({ length: 100 }, (_, n) => onAbort(controller.signal, () => ran.push(n)));
  for (const release of releases.slice(2)) release();
  controller.abort();
  expect(listeners).toBe(1);
  expect(ran).toEqual([0, 1]);
});

test("a signal that is aborted already runs the action at once", () => {
  let ran = 0;
  onAbort(AbortSignal.abort(), () => ran++)();
  expect(ran).toBe(1);
});
