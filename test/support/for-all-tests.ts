import { afterAll } from "bun:test";

/** Gives what all tests of a file share, and closes it after the last of them. */
export function forAllTests<T extends AsyncDisposable>(shared: T): T {
  afterAll(() => shared[Symbol.asyncDispose]());
  return shared;
}
