import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { forAllTests } from "../support/for-all-tests.ts";
import { outputOf } from "../support/local.ts";
import { folderTenant, openIndexed, openSearchServer } from "../support/search-server.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const CONFORMANCE = join(
  import.meta.dir,
  "../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);

/**
 * Scenarios that call tools, prompts and resources of the suite's own server, or use what this server has no need
 * of: completion, log messages, subscriptions to a resource, questions to the person. The suite fails when one of
 * these passes, so that the list stays as short as it can be.
 */
const OWN_FIXTURES = {
  both: [
    "completion-complete",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
  ],
  "2025-11-25": [
    "logging-set-level",
    "tools-call-with-logging",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "resources-subscribe",
    "resources-unsubscribe",
    // It wants a session, which this server does not keep.
    "server-sse-multiple-streams",
  ],
  "2026-07-28": [
    // Only tools are offered, whose hints for caches test/server/revisions.test.ts checks.
    "resources-list",
    "sep-2164-resource-not-found",
    "prompts-list",
    "caching",
    "server-stateless:sep-2575-server-rejects-undeclared-capability",
    "server-stateless:sep-2575-missing-capability-http-400",
    "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
    "server-stateless:sep-2575-server-no-log-without-loglevel",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-non-tool-request",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
    "input-required-result-missing-input-response",
    "input-required-result-ignore-extra-params",
  ],
} as const;

const registry = forAllTests(
  await openIndexed(
    folderTenant("tool", { "proxies.md": "# Proxies\n\nNO_PROXY lists hosts that go without.\n" }),
  ),
);
const server = forAllTests(openSearchServer(registry));
const { path: scratch } = forAllTests(temporaryDirectory());

/** Runs the official suite; gives the scenarios that passed as well. */
async function conform(revision: "2025-11-25" | "2026-07-28", path: string): Promise<readonly string[]> {
  const baseline = join(scratch, `${revision}.yml`);
  const expected = [...OWN_FIXTURES.both, ...OWN_FIXTURES[revision]];
  await writeFile(baseline, `server:\n${expected.map((name) => `  - ${name}\n`).join("")}`);
  const words = ["server", "--url", `${server.url}${path}`, "--requirements", revision];
  const child = Bun.spawn(
    [process.execPath, CONFORMANCE, ...words, "--expected-failures", baseline, "-o", scratch],
    { cwd: scratch, env: { PATH: process.env.PATH ?? "", HOME: scratch }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const { stdout: out, stderr: err } = await outputOf(child);
  const summary = out.slice(out.indexOf("=== SUMMARY"));
  expect({ code: await child.exited, summary: `${summary}${err}`.slice(-3000) }).toMatchObject({ code: 0 });
  return [...summary.matchAll(/✓ ([\w-]+)/g)].map(([, name = ""]) => name);
}

test("the official suite finds no fault in revision 2025-11-25", async () => {
  const passed = await conform("2025-11-25", "/mcp");
  for (const name of ["server-initialize", "ping", "tools-list"]) expect(passed).toContain(name);
  expect(passed).toContain("dns-rebinding-protection");
});

test("the official suite finds no fault in revision 2026-07-28", async () => {
  const passed = await conform("2026-07-28", "/mcp/");
  for (const name of [
    "tools-list",
    "http-header-validation",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
  ])
    expect(passed).toContain(name);
});
