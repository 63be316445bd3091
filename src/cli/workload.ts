import { parseArguments, type Typed } from "./arguments.ts";

/** The kind of work ahead: extracting one page, working for seconds or until it is stopped, or answering soon. */
export type Workload = "page" | "long" | "short";

/** Tells from the typed words what the program is about to do; "short" also for words that will be refused. */
export function workloadOf(words: readonly string[]): Workload {
  try {
    return workload(parseArguments(words));
  } catch {
    return "short"; // `runCli` says what is wrong
  }
}

function workload({ command, positionals, asksForHelp, has, many }: Typed): Workload {
  if (asksForHelp || ["version", "print-config", "dry-run"].some(has)) return "short";
  if (command.name !== "extract") return command.isLong ? "long" : "short";
  const pages = positionals.length + many("file").length;
  return pages <= 1 && !has("input-file") && !has("resume") ? "page" : "long";
}
