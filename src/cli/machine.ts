import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserMachine } from "../app.ts";
import type { Environment } from "../settings/index.ts";
import type { Io } from "./io.ts";

/** What this machine has for browsers. */
export function browserMachine(environment: Environment, io: Io): BrowserMachine {
  const user = process.getuid?.();
  return {
    searchPath: environment.PATH ?? "",
    platform: process.platform,
    home: homedir(),
    // Each user has a directory that no other may look into.
    temporaryBase: join(tmpdir(), `article-extractor${user === undefined ? "" : `-${user}`}`),
    useTemporaryDirectory: io.useTemporaryDirectory,
    pid: process.pid,
    isRoot: user === 0,
    hasDisplay: hasDisplay(environment, process.platform),
  };
}

/** Whether a window can be shown: elsewhere than on X11 and Wayland there is always a desktop. */
export const hasDisplay = ({ DISPLAY, WAYLAND_DISPLAY }: Environment, platform: string): boolean =>
  platform === "darwin" || platform === "win32" || Boolean(DISPLAY || WAYLAND_DISPLAY);
