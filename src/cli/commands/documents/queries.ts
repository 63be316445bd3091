import { queryLogOf } from "../../../app/index.ts";
import { type QueriesRecord, type QueryCounts, readQueryLog } from "../../../server/index.ts";
import { openDeployment } from "../../deployment.ts";
import { wrongUsage } from "../../io.ts";
import { optionValue } from "../../option-values.ts";
import type { Run } from "../../shell.ts";

const MAX_DAYS = 3650;
const DEFAULT_SIZE = 20;
const MAX_SIZE = 1000;

/** Runs `queries`; a server may run beside it. @throws Failure also `unreadable_input` where none have been counted */
export const queries: Run = async (shell) => {
  const { typed, io } = shell;
  if (typed.positionals.length > 0) throw wrongUsage("queries takes no arguments");
  const days = optionValue.integer(typed, "days", { min: 1, max: MAX_DAYS }) ?? MAX_DAYS;
  const size = optionValue.integer(typed, "size", { min: 1, max: MAX_SIZE }) ?? DEFAULT_SIZE;
  const { program, deployment } = await openDeployment(shell);
  const kept = deployment.infrastructure.queryLogDays || MAX_DAYS;
  const path = queryLogOf(program, deployment);
  const record = readQueryLog(path, { days: Math.min(days, kept), size });
  await io.stdout.write(typed.has("json") ? `${JSON.stringify(record, null, 2)}\n` : formatQueries(record));
  return 0;
};

function formatQueries(record: QueriesRecord): string {
  const { searches, since, frequent, without_hits, without_click } = record;
  const lists = [
    listOf("Most frequent", frequent, ({ searches: count }) => count),
    listOf("Without hits", without_hits, (one) => one.without_hits),
    listOf("Without a click", without_click, (one) => one.searches - one.without_hits - one.followed),
  ];
  const [counted, different] = [
    searches === 1 ? "search" : "searches",
    record.queries === 1 ? "query" : "queries",
  ];
  const head = `${searches} ${counted} of ${record.queries} ${different} since ${since}\n`;
  return [head, ...lists.filter((list) => list !== "")].join("\n");
}

function listOf(
  title: string,
  counted: readonly QueryCounts[],
  countOf: (counts: QueryCounts) => number,
): string {
  if (counted.length === 0) return "";
  const lines = counted.map((one) => `${String(countOf(one)).padStart(7)}  ${one.query}\n`);
  return `${title}:\n${lines.join("")}`;
}
