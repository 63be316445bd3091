import { openSources } from "../../src/app/index.ts";
import { createLog } from "../../src/base/log.ts";
import { readDeployment } from "../../src/settings/index.ts";
import type { OnlineTenant } from "../../src/tenants/settings.ts";
import { onlineSource as openOnlineSource } from "../../src/tenants/source/open-source.ts";
import { openTestTenantApp, testProgram } from "./program.ts";

export type WebTenantOptions = {
  readonly rootDir: string;
  /** Fields of the tenant in deployment.json. */
  readonly tenant: Readonly<Record<string, unknown>>;
  readonly infrastructure?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly now?: () => number;
};

export type WebTenant = ReturnType<typeof openWebTenant>;

/** An online source as the program opens it. */
export function openWebTenant(options: WebTenantOptions) {
  let text = "";
  const log = createLog({
    level: "debug",
    format: "text",
    write: (line) => {
      text += line;
    },
  });
  const file = {
    infrastructure: { crawler_browser_first: false, ...options.infrastructure },
    tenants: [
      {
        source_type: "online",
        codename: "manual",
        docs_name: "Manual",
        docs_root_dir: options.rootDir,
        ...options.tenant,
      },
    ],
  };
  const deployment = readDeployment(JSON.stringify(file), { name: "d.json", directory: "/" });
  const program = testProgram({
    PATH: process.env.PATH,
    ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
    ARTICLE_EXTRACTOR_RETRIES: "0",
    ...options.environment,
  });
  const app = openTestTenantApp(program, { log });
  const sources = openSources(program, { deployment, app });
  // The only tenant of the file above.
  const tenant = deployment.tenants[0] as OnlineTenant;
  const source = openOnlineSource(tenant, {
    access: sources.web,
    stateDirectory: `${options.rootDir}/.article-extractor`,
    log,
    now: options.now ?? Date.now,
  });
  return {
    source,
    sources,
    logText: () => text,
    async [Symbol.asyncDispose]() {
      await sources[Symbol.asyncDispose]();
      await app[Symbol.asyncDispose]();
    },
  };
}
