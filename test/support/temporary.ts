import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TemporaryDirectory = Disposable & AsyncDisposable & { readonly path: string };

/** Makes an empty directory that is removed at the end of the scope, also when its files cannot be written. */
export function temporaryDirectory(): TemporaryDirectory {
  const path = mkdtempSync(join(tmpdir(), "test-"));
  chmodSync(path, 0o755); // some tests run as another user
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  return { path, [Symbol.dispose]: remove, [Symbol.asyncDispose]: async () => remove() };
}
