import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../settings/index.ts";
import type { BrowserMachine } from "./app.ts";

/** What this machine has for browsers. */
export function browserMachine(
  environment: Environment,
  host: Pick<BrowserMachine, "useTemporaryDirectory" | "environment">,
): BrowserMachine {
  const user = process.getuid?.();
  return {
    searchPath: environment.PATH ?? "",
    platform: process.platform,
    home: homedir(),
    temporaryBase: temporaryBase(`article-extractor${user === undefined ? "" : `-${user}`}`),
    useTemporaryDirectory: host.useTemporaryDirectory,
    environment: host.environment,
    pid: process.pid,
    isRoot: user === 0,
    hasDisplay: hasDisplay(environment, process.platform),
  };
}

/**
 * Chromium makes a socket in its directory for temporary files, and macOS allows a socket's path 103 bytes:
 * these are left when the names below the base, `browser-<pid>/org.chromium.Chromium.XXXXXX/SingletonSocket`,
 * are taken away.
 */
const MAX_BASE_BYTES = 40;

// Each user has a directory that no other may look into, so it may stand in one that all share.
function temporaryBase(name: string): string {
  const usual = join(tmpdir(), name);
  const isTooLong = process.platform !== "win32" && Buffer.byteLength(usual) > MAX_BASE_BYTES;
  return isTooLong ? join("/tmp", name) : usual;
}

/** Whether a window can be shown: elsewhere than on X11 and Wayland there is always a desktop. */
export const hasDisplay = ({ DISPLAY, WAYLAND_DISPLAY }: Environment, platform: string): boolean =>
  platform === "darwin" || platform === "win32" || Boolean(DISPLAY || WAYLAND_DISPLAY);
