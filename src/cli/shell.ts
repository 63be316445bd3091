import { Failure } from "../base/failure.ts";
import type { Typed } from "./arguments.ts";
import type { Io } from "./io.ts";
import type { CommandParts } from "./program.ts";
import type { Notices, Paint } from "./terminal/notices.ts";

/** What a command runs with. */
export type Shell = {
  readonly typed: Typed;
  readonly io: Io;
  /** Notices on the stderr of this `Io`. */
  readonly openNotices: (at: Io) => Notices;
  /** For stdout. */
  readonly paint: () => Paint;
  /** Whether somebody at a terminal typed the program's name and nothing else. */
  readonly isBare: boolean;
};

/** Runs a command; returns the exit code. */
export type Run = (shell: Shell) => Promise<number>;

/** What a command without a line of its own on the screen is given. */
export const partsOf = ({ typed, io, openNotices }: Shell): CommandParts => ({
  typed,
  io,
  notices: openNotices(io),
});

/** Whether a line may be written over and over: not in a log, nor where nothing can be erased. */
export const canRedraw = ({ typed, io }: Shell): boolean =>
  io.stderr.isTerminal && io.environment.TERM !== "dumb" && !typed.has("quiet");

/** @throws Failure `invalid_usage` */
export function requireNoArguments({ command, positionals }: Typed): void {
  if (positionals.length > 0) throw new Failure("invalid_usage", `${command.name} takes no arguments`);
}
