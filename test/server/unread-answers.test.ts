import { describe, expect, test } from "bun:test";
import net from "node:net";
import { isOver, startExtractor, submitJob, untilJob } from "../support/extractor-server.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { untilTrue } from "../support/until.ts";

/** Sends a request so many times, each over a connection that takes the head of the answer and no more; gives the statuses. */
async function leaveUnread(
  url: string,
  times: number,
  request: string,
): Promise<Disposable & { statuses: number[] }> {
  const { port } = new URL(url);
  const sockets: net.Socket[] = [];
  const one = async (): Promise<number> => {
    const socket = net.connect({ port: Number(port), host: "127.0.0.1" });
    sockets.push(socket);
    socket.on("error", () => {});
    socket.write(request);
    await new Promise((resolve) => socket.once("readable", resolve));
    return Number(/^HTTP\/1\.1 (\d+)/.exec(String(socket.read()))?.[1]);
  };
  return {
    statuses: await Promise.all(Array.from({ length: times }, one)),
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

function post(path: string, body: object): string {
  const text = JSON.stringify(body);
  const head = "host: localhost\r\ncontent-type: application/json\r\naccept: application/json";
  return `POST ${path} HTTP/1.1\r\n${head}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

const callOf = (name: string, args: object) =>
  post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });

const counted = (statuses: readonly number[]) => ({
  answered: statuses.filter((status) => status === 200).length,
  refused: statuses.filter((status) => status === 429).length,
});

/** Long enough that the kernel does not take it all. */
const LONG = `# Long\n\n${"The mill turns the wheel of the mill by the river.\n\n".repeat(200_000)}`;
const LIMIT = { ARTICLE_EXTRACTOR_UNREAD_BYTES_PER_CLIENT: "30000000" };

describe("answers that nobody reads", () => {
  test("are few at once in serve search, and searches go on", async () => {
    const root = writeDeployment({ max_fetch_chars: 100_000_000 }, {}, { "long.md": LONG });
    await using served = await Served.start(root, { env: LIMIT });
    await untilTrue(async () => (await served.search("river mill")).error === null);
    const uri = "docs://tool/long.md";
    {
      using unread = await leaveUnread(served.url, 8, get(`/document?tenant=tool&uri=${uri}`));
      expect(counted(unread.statuses)).toEqual({ answered: 2, refused: 6 });
    }
    await untilTrue(
      async () =>
        (await served.call("root_fetch", { tenant_codename: "tool", uri }).catch(() => null))?.error === null,
    );
    using unread = await leaveUnread(served.url, 8, callOf("root_fetch", { tenant_codename: "tool", uri }));
    expect(counted(unread.statuses)).toEqual({ answered: 1, refused: 7 });
    await untilTrue(async () => (await served.search("no_proxy").catch(() => null))?.results.length === 1);
  });

  test("do not keep downloads and manifests from coming whole", async () => {
    await using site = serveNumberedSite({ pages: 3 });
    await using server = await startExtractor({ env: LIMIT });
    const id = await submitJob(server, {
      output_dir: "out",
      seeds: [`${site.origin}/`],
      max_pages: 3,
      ignore_robots: true,
    });
    await untilJob(server, id, isOver);
    for (const format of ["zip", "jsonl"])
      expect(
        (await (await server.get(`/crawl/${id}/download?format=${format}`)).bytes()).length,
      ).toBeGreaterThan(500);
    expect((await server.get(`/crawl/${id}/manifest`)).headers.get("content-length")).not.toBeNull();
  });
});

test("pages that hang keep nobody from searching", async () => {
  const sockets: net.Socket[] = [];
  const hanging = net.createServer((socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve));
  const { port } = hanging.address() as net.AddressInfo;
  const env = { ARTICLE_EXTRACTOR_EGRESS: "open", ARTICLE_EXTRACTOR_PREFER_BROWSER: "false" };
  const root = writeDeployment({ allow_page_fetches: true, max_concurrent_requests: 2 });
  await using served = await Served.start(root, { env });
  await untilTrue(async () => (await served.search("proxies")).error === null);
  let answered = 0;
  const fetches = Array.from({ length: 6 }, async (_, page) => {
    await served.call("fetch_url", { url: `http://127.0.0.1:${port}/${page}` }).catch(() => {});
    answered++;
  });
  await untilTrue(() => sockets.length >= 2);
  for (let round = 0; round < 5; round++) expect((await served.search("no_proxy")).results).toHaveLength(1);
  expect(answered).toBe(0);
  await served[Symbol.asyncDispose]();
  await Promise.all(fetches);
  for (const socket of sockets) socket.destroy();
  hanging.close();
});
