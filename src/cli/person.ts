import type { Person } from "../app/index.ts";
import type { Io } from "./io.ts";

/** The person at the terminal, or whoever writes into the pipe in their place: a line break says "done". */
export const createPerson = (io: Io): Person => ({
  async ask(message, signal) {
    // Not a notice: with --quiet, too, somebody has to know what the window is waiting for.
    io.stderr.write(`${message}\n`);
    const line = await io.stdin.readLine();
    // Nobody is there, so only the time and the window tell.
    if (line === null && !signal.aborted) await new Promise(() => {});
  },
});
