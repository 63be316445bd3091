/**
 * CPU time of the searches alone, in a process of their own: reads { index, queries, warmUp } from stdin,
 * prints ms per query.
 */
import { SearchIndex } from "../../../src/search/index.ts";
import { DEFAULT_SEARCH } from "../../../src/settings/index.ts";

type Task = { readonly index: string; readonly queries: readonly string[]; readonly warmUp: number };

// scripts/bench/mcp.ts wrote this.
const { index: path, queries, warmUp } = (await Bun.stdin.json()) as Task;
using index = SearchIndex.open(path, DEFAULT_SEARCH);
const search = (query: string): void => {
  const deadline = performance.now() + 30_000;
  index.search(query, { size: 10, wordMatch: false, explain: false, deadline });
};
for (const query of queries.slice(0, warmUp)) search(query);
const before = process.cpuUsage();
for (const query of queries.slice(warmUp)) search(query);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000 / (queries.length - warmUp));
