import { describe, expect, test } from "bun:test";
import net from "node:net";
import { type ExtractorProcess, startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { untilTrue } from "../support/until.ts";

const SENDERS = 1000;

/** Clients that have sent one byte of a body each, and send no more until they are let go. */
type SlowSenders = Disposable & {
  /** What each was answered, once the server has closed its connection. */
  readonly answers: readonly Promise<string>[];
};

async function startSlowSenders(url: string, path: string): Promise<SlowSenders> {
  const { hostname, port } = new URL(url);
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n`;
  const sockets: net.Socket[] = [];
  const answers: Promise<string>[] = [];
  const connected = Array.from({ length: SENDERS }, async (_, number) => {
    const isChunked = number % 2 === 1;
    const start = isChunked
      ? "transfer-encoding: chunked\r\n\r\n1\r\n{\r\n"
      : "content-length: 1000\r\n\r\n{";
    const socket = net.connect(Number(port), hostname);
    sockets.push(socket);
    answers.push(
      new Promise((resolve) => {
        let text = "";
        socket.on("data", (piece) => {
          text += piece;
        });
        socket.on("error", () => {});
        socket.on("close", () => resolve(text));
      }),
    );
    await new Promise<void>((resolve) =>
      socket.once("connect", () => socket.write(head + start, () => resolve())),
    );
  });
  await Promise.all(connected);
  return {
    answers,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

const isTooSlow = (answer: string): boolean =>
  answer.startsWith("HTTP/1.1 408") && answer.includes("body_too_slow");

describe("a thousand clients that send one byte of a body and wait", () => {
  const site = forAllTests(serveNumberedSite({ pages: 100 }));

  test.concurrent("keep no caller of serve extractor waiting, and are sent away", async () => {
    const env = { ARTICLE_EXTRACTOR_MAX_CONCURRENT_REQUESTS: "1" };
    await using server: ExtractorProcess = await startExtractor({ env });
    using slow = await startSlowSenders(server.url, "/");
    for (let page = 1; page <= 20; page++)
      expect((await server.post("/", { url: `${site.origin}/p/${page}` })).status).toBe(200);
    const answers = await Promise.all(slow.answers);
    expect(answers.filter((answer) => !isTooSlow(answer))).toEqual([]);
    expect((await server.get("/health")).status).toBe(200);
  });

  test.concurrent("keep no caller of serve search waiting, and are sent away", async () => {
    const limits = { max_concurrent_requests: 1, uvicorn_limit_concurrency: 10 };
    await using served = await Served.start(writeDeployment(limits));
    await untilTrue(async () => (await served.search("proxies")).error === null);
    using slow = await startSlowSenders(served.url, "/mcp");
    for (let request = 0; request < 20; request++)
      expect((await served.search("no_proxy")).results).toHaveLength(1);
    const answers = await Promise.all(slow.answers);
    expect(answers.filter((answer) => !isTooSlow(answer))).toEqual([]);
    expect((await served.search("no_proxy")).results).toHaveLength(1);
  });
});
