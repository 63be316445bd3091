import { mkdirSync, renameSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { temporaryDirectory } from "../temporary.ts";

const LIBRARY = [...new Glob("/usr/lib/*/faketime/libfaketimeMT.so.1").scanSync()][0];
const DISK = "size=192m,mode=755";
const run = (...words: string[]): boolean => Bun.spawnSync(words).success;

/**
 * An empty disk that can be filled and a clock that can jump, for the processes of one scenario. `disk` is null where
 * nobody may mount one (`path` is a directory then), and `clock` without libfaketime.
 */
export function openGround() {
  const directory = temporaryDirectory();
  const path = join(directory.path, "disk");
  const time = join(directory.path, "time");
  mkdirSync(path);
  const isMounted = run("mount", "-t", "tmpfs", "-o", DISK, "tmpfs", path);
  // A run that is killed leaves no disk behind.
  const script = `while kill -0 ${process.pid} 2>/dev/null; do sleep 1; done; umount -l ${path} 2>/dev/null`;
  if (isMounted) Bun.spawn(["setsid", "sh", "-c", script], { stdio: ["ignore", "ignore", "ignore"] }).unref();
  const disk = {
    fill() {
      const { bavail, bsize } = statfsSync(path);
      if (bavail > 0) run("fallocate", "-l", String(bavail * bsize), join(path, "ballast"));
    },
    free: () => rmSync(join(path, "ballast"), { force: true }),
  };
  const clock = {
    /** Lets it differ from the machine's by so many seconds. */
    set(seconds: number) {
      // Aside, then renamed, because processes read it at each look at their clock.
      writeFileSync(`${time}.new`, `${seconds < 0 ? "" : "+"}${seconds}\n`);
      renameSync(`${time}.new`, time);
    },
  };
  clock.set(0);
  return {
    path,
    disk: isMounted ? disk : null,
    clock: LIBRARY === undefined ? null : clock,
    /** The variables with which a process has this clock; its monotonic clock is the machine's. */
    clockEnv: LIBRARY && {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: time,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    },
    [Symbol.dispose]() {
      if (isMounted) run("umount", "-l", path);
      directory[Symbol.dispose]();
    },
  };
}
