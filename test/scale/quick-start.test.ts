import { afterAll, beforeAll, expect, test } from "bun:test";
import { reservePort } from "../../src/server/listen.ts";
import { runShell } from "../support/binary.ts";
import { auditedManifest, type Cluster, startCluster } from "../support/scale/crawl.ts";
import { documentedBlocks } from "../support/scale/docs.ts";
import { type ManyHosts, serveManyHosts } from "../support/scale/site.ts";

let cluster: Cluster;
let site: ManyHosts;
beforeAll(async () => {
  cluster = await startCluster({ isEmpty: true });
  site = await serveManyHosts({ hosts: 1, pagesPerHost: 40, answerMs: 0, missing: 0, bytes: 600 });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

const env = () => ({ ...cluster.env, ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0" });

test("the quick start crawls with two processes", async () => {
  const [script = ""] = documentedBlocks("--join");
  const { exitCode, stdout, stderr } = await runShell(
    script.replaceAll("https://docs.example.org/", `${site.origin}/`),
    { env: env() },
  );
  expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0 });
  expect((await auditedManifest(cluster.bucket, "docs")).successful).toBe(40);
});

test("the service starts in its roles", async () => {
  const [script = ""] = documentedBlocks("--role worker --port");
  let started = script;
  const ports: number[] = [];
  for (const [written] of script.matchAll(/\b300\d\b/g)) {
    const port = await reservePort("127.0.0.1", 0);
    ports.push(port);
    started = started.replace(written, String(port));
  }
  expect(ports.length).toBe(3);
  const ask = ports
    .map(
      (port) => `curl --silent --retry 30 --retry-connrefused --retry-delay 1 http://127.0.0.1:${port}/ready`,
    )
    .join("\n");
  const { exitCode, stdout } = await runShell(
    `article-extractor database migrate\n${started}\n${ask}\nkill $(jobs -p)\nwait`,
    { env: env(), shell: "bash" },
  );
  expect({ exitCode, answers: stdout.match(/"ready":true/g)?.length }).toEqual({ exitCode: 0, answers: 3 });
});
