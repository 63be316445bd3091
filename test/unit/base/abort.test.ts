import { expect, test } from "bun:test";
import { onAbort, orAborted, pause } from "../../../src/base/abort.ts";

test("a signal carries one listener, whatever the number of actions", () => {
  const controller = new AbortController();
  let listeners = 0;
  const add = controller.signal.addEventListener.bind(controller.signal);
  controller.signal.addEventListener = (...listener: Parameters<typeof add>) => {
    listeners++;
    add(...listener);
  };
  const ran: number[] = [];
  const listening = Array.from({ length: 100 }, (_, n) => onAbort(controller.signal, () => ran.push(n)));
  for (const listener of listening.slice(2)) listener[Symbol.dispose]();
  controller.abort();
  expect(listeners).toBe(1);
  expect(ran).toEqual([0, 1]);
});

test("an action that is added twice runs twice, and one of the two can be removed", () => {
  const controller = new AbortController();
  let ran = 0;
  const action = (): void => void ran++;
  const first = onAbort(controller.signal, action);
  onAbort(controller.signal, action);
  first[Symbol.dispose]();
  controller.abort();
  expect(ran).toBe(1);
});

test("an aborted signal runs the action at once, no signal never does", () => {
  let ran = 0;
  onAbort(AbortSignal.abort(), () => ran++)[Symbol.dispose]();
  onAbort(undefined, () => ran++)[Symbol.dispose]();
  expect(ran).toBe(1);
});

test("waiting ends with the work or the signal, whichever comes first", async () => {
  const never = new Promise<never>(() => {});
  const reason = () => new Error("called off");
  expect(await orAborted(Promise.resolve(1), undefined, reason)).toBe(1);
  expect(await orAborted(Promise.resolve(1), new AbortController().signal, reason)).toBe(1);
  await expect(orAborted(Promise.reject(new Error("failed")), undefined, reason)).rejects.toThrow("failed");
  await expect(orAborted(never, AbortSignal.abort(), reason)).rejects.toThrow("called off");
  const controller = new AbortController();
  const waiting = orAborted(never, controller.signal, reason);
  controller.abort();
  await expect(waiting).rejects.toThrow("called off");
  // Work that fails after it was left behind is nobody's error.
  await expect(orAborted(Promise.reject(new Error("late")), AbortSignal.abort(), reason)).rejects.toThrow();
});

test("a pause ends with its time or its signal", async () => {
  await pause(1, new AbortController().signal);
  await pause(2 ** 30, AbortSignal.abort());
  const controller = new AbortController();
  const paused = pause(2 ** 30, controller.signal);
  controller.abort();
  await paused;
});
