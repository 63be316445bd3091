import type { Typed } from "./arguments.ts";
import { type Io, wrongUsage } from "./io.ts";
import type { CommandParts } from "./program.ts";
import type { Notices, Paint, ServerNotices } from "./terminal/notices.ts";

/** The parts that a command runs with. */
export type Shell = CommandParts & {
  /** Opens notices on the stderr of this `Io`, above a progress line for example. */
  readonly openNotices: (at: Io) => Notices;
  /** Opens the notices of a server. */
  readonly openServerNotices: () => ServerNotices;
  /** The colours for stdout. */
  readonly paint: () => Paint;
  /** Whether somebody at a terminal typed only the program's name. */
  readonly isBare: boolean;
};

/** Runs a command; returns the exit code. */
export type Run = (shell: Shell) => Promise<number>;

/** The parts that a server gets. */
export type ServerParts = CommandParts & { readonly notices: ServerNotices };

/** Tells whether a line may be redrawn: not in a log, nor on a terminal that cannot erase. */
export const canRedraw = ({ typed, io }: Shell): boolean =>
  io.stderr.isTerminal && io.environment.TERM !== "dumb" && !typed.has("quiet");

/** @throws Failure `invalid_usage` */
export function requireNoArguments({ command, positionals }: Typed): void {
  if (positionals.length > 0) throw wrongUsage(`${command.name} takes no arguments`);
}
