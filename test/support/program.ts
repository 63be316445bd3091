import { type App, openApp, type Program, readProgram } from "../../src/app/index.ts";
import type { Log } from "../../src/base/log.ts";
import type { MetricsSink } from "../../src/base/metrics.ts";
import { silentLog } from "../../src/base/silent-log.ts";
import { INDEX_WORKER_URL, WORKER_URL } from "./workers.ts";

/** Reads the program as its entry does, with these variables and no others. @param workerUrl the module that extracts */
export const testProgram = (
  environment: Record<string, string | undefined> = {},
  workerUrl = WORKER_URL,
): Program =>
  readProgram(
    {
      environment: { ...environment },
      executablePath: "/nowhere/article-extractor",
      workerUrl,
      indexWorkerUrl: INDEX_WORKER_URL,
      useTemporaryDirectory: () => {},
      stderr: { write: () => {} },
    },
    environment,
    { logLevel: null, logFormat: null, isVerbose: false, egress: null },
  );

/** Opens the app for tenants, without a browser. */
export const openTestTenantApp = (
  program: Program,
  { log = silentLog, sinks = [] }: { readonly log?: Log; readonly sinks?: readonly MetricsSink[] } = {},
): App =>
  openApp(program, {
    caller: { kind: "configured_source", hosts: [] },
    shell: "server",
    log,
    sinks,
    machine: null,
  });
