import { afterAll } from "bun:test";

const opened: AsyncDisposable[] = [];

/** Gives what all tests of a file share, and closes it after the last of them; what was opened last is closed first. */
export function forAllTests<T extends AsyncDisposable>(shared: T): T {
  opened.push(shared);
  afterAll(() => opened.pop()?.[Symbol.asyncDispose]());
  return shared;
}
