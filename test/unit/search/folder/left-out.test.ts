import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_EXCLUDED, LEFT_OUT_REASONS } from "../../../../src/search/index.ts";

const TENANTS = readFileSync(join(import.meta.dir, "../../../../docs/tenants.md"), "utf8");

test("the documentation lists the reasons in their order, and the patterns of every tenant", () => {
  const table = /\| Reason \| Files \|\n\| --- \| --- \|\n((?:\|.*\n)+)/.exec(TENANTS)?.[1] ?? "";
  expect([...table.matchAll(/^\| `(\w+)`/gm)].map(([, reason]) => reason)).toEqual(
    Object.keys(LEFT_OUT_REASONS),
  );
  const patterns = /<!-- excluded -->([^<]*)<!-- \/excluded -->/.exec(TENANTS)?.[1] ?? "";
  expect([...patterns.matchAll(/`([^`]+)`/g)].map(([, pattern]) => pattern)).toEqual([...DEFAULT_EXCLUDED]);
});
