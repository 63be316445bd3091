import type { Io, Supervisor } from "../src/cli/index.ts";

// This variable tells a copy what it is, and a channel connects it with its supervisor. The channel closes
// with the supervisor, even if that is killed, and then the copy ends too.
const VARIABLE = "ARTICLE_EXTRACTOR_SUPERVISED_RUN";
const READY = "ready";
const END = "end";
const RELOAD = "reload";

// The program removes the proxy variables from its own environment after reading them, but copies must read
// them too.
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
  const tell = (message: string): void => {
    try {
      child.send(message);
    } catch {
      // The channel is closed, so the copy is already ending.
    }
  };
  return {
    pid: child.pid,
    exited: child.exited.then(() => ({ code: child.exitCode, signal: child.signalCode?.toString() ?? null })),
    reload: () => tell(RELOAD),
    // No signal is sent: the terminal has already sent one, and a second one would not let the copy finish.
    end: () => tell(END),
    kill: () => child.kill("SIGKILL"),
  };
};

/**
 * What the supervisor tells this process, if it has one.
 * @param onEnd called when the process has to end
 * @param onReload called when it is to read its settings again
 */
export function takeSupervisor(onEnd: () => void, onReload: () => void): Supervisor | null {
  const written = process.env[VARIABLE];
  if (written === undefined) return null;
  delete process.env[VARIABLE];
  // Without a channel the variable was set by hand and means nothing.
  if (process.send === undefined) return null;
  process.once("disconnect", onEnd);
  process.on("message", (message) => {
    if (message === END) onEnd();
    else if (message === RELOAD) onReload();
  });
  // `startCopy` of this same program wrote this.
  const { run, port } = JSON.parse(written) as { readonly run: string; readonly port: number };
  return { run, port, announceReady: () => void (process.connected && process.send?.(READY)) };
}

// A script is run by Bun; the compiled program runs itself.
export const programCommand = (): string[] =>
  import.meta.path.includes("$bunfs") ? [process.execPath] : [process.execPath, process.argv[1] ?? ""];
