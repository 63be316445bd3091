import type { Io, Supervisor } from "../src/cli/index.ts";

// A copy is told by this variable what it is, and talks with its supervisor over a channel. The channel closes
// with the supervisor, even when that is killed, and then the copy ends too.
const VARIABLE = "ARTICLE_EXTRACTOR_SUPERVISED_RUN";
const READY = "ready";
const END = "end";

// The program takes the proxy variables out of its own environment once it has read them; copies have to read them too.
const ENVIRONMENT = { ...process.env };

/** See `Io.startCopy`. */
export const startCopy: Io["startCopy"] = ({ run, port, onReady }) => {
  const child = Bun.spawn([...programCommand(), ...process.argv.slice(2)], {
    env: { ...ENVIRONMENT, [VARIABLE]: JSON.stringify({ run, port }) },
    stdio: ["ignore", "inherit", "inherit"],
    serialization: "json",
    ipc: (message) => {
      if (message === READY) onReady();
    },
  });
  return {
    pid: child.pid,
    exited: child.exited.then(() => ({ code: child.exitCode, signal: child.signalCode?.toString() ?? null })),
    end: () => {
      // No signal: the terminal has sent one already, and a second one would not let the copy finish.
      try {
        child.send(END);
      } catch {
        // The channel is closed: it is ending already.
      }
    },
    kill: () => child.kill("SIGKILL"),
  };
};

/** What this process is told by its supervisor, if it has one. @param onEnd called when it is to end */
export function takeSupervisor(onEnd: () => void): Supervisor | null {
  const written = process.env[VARIABLE];
  if (written === undefined) return null;
  delete process.env[VARIABLE];
  // Set by hand it means nothing: there is no channel.
  if (process.send === undefined) return null;
  process.once("disconnect", onEnd);
  process.on("message", (message) => {
    if (message === END) onEnd();
  });
  // Written by `startCopy` of this very program.
  const { run, port } = JSON.parse(written) as { readonly run: string; readonly port: number };
  return { run, port, announceReady: () => void (process.connected && process.send?.(READY)) };
}

// A script is run by Bun; the compiled program is itself what runs.
const programCommand = (): string[] =>
  import.meta.path.includes("$bunfs") ? [process.execPath] : [process.execPath, process.argv[1] ?? ""];
