import { afterAll } from "bun:test";

const opened: (AsyncDisposable | Disposable)[] = [];

/** Gives what all tests of a file share, and closes it after the last of them; what was opened last is closed first. */
export function forAllTests<T extends AsyncDisposable | Disposable>(shared: T): T {
  opened.push(shared);
  afterAll(async () => {
    await using _ = opened.pop();
  });
  return shared;
}
