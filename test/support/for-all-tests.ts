import { afterAll, afterEach, beforeEach } from "bun:test";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary.ts";

const opened: (AsyncDisposable | Disposable)[] = [];

/** Gives what all tests of a file share, and closes it after the last of them; what was opened last is closed first. */
export function forAllTests<T extends AsyncDisposable | Disposable>(shared: T): T {
  opened.push(shared);
  afterAll(async () => {
    await using _ = opened.pop();
  });
  return shared;
}

/** Makes an empty directory for each test of a file or a `describe`. @returns the path of the current one */
export function directoryForEachTest(): () => string {
  let directory: TemporaryDirectory;
  beforeEach(() => {
    directory = temporaryDirectory();
  });
  afterEach(() => directory[Symbol.dispose]());
  return () => directory.path;
}
