import { expect, test } from "bun:test";
import net from "node:net";
import { isOver, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { startFaultySite } from "../../support/faulty-site.ts";
import { type NumberedSite, serveNumberedSite } from "../../support/numbered-site.ts";

const SECRET = "s3cr3t-0f-s0mebody";

/** Asks for a path as it is written: `fetch` would change it. */
const ask = (url: string, path: string): Promise<void> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = net.connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`),
    );
    socket.on("error", () => resolve());
    socket.on("close", () => resolve());
    socket.resume();
  });

test("no query, password or fragment of an address that is asked for is in the log, whatever becomes of it", async () => {
  await using site: NumberedSite = serveNumberedSite({ pages: 3 });
  await using faulty = await startFaultySite();
  const env = { ARTICLE_EXTRACTOR_LOG_LEVEL: "debug", ARTICLE_EXTRACTOR_LOG_DIAGNOSTICS: "1" };
  await using server = await startExtractor({ env });
  const { host } = new URL(site.origin);
  const targets = [
    `${site.origin}/p/1?token=${SECRET}`,
    `${site.origin}/none?token=${SECRET}`,
    `${site.origin}/p/2#${SECRET}`,
    `http://user:${SECRET}@${host}/p/1`,
    `http://127.0.0.1:1/?token=${SECRET}`,
    `http://169.254.0.1/?token=${SECRET}`,
    `${faulty.origin}/reset?token=${SECRET}`,
    `http://user:${SECRET}@no host/`,
  ];
  for (const url of targets) {
    await server.post("/", { url });
    for (const path of [url, encodeURIComponent(url), encodeURIComponent(encodeURIComponent(url))])
      await ask(server.url, `/${path.replaceAll(" ", "%20")}`);
  }
  await ask(server.url, `/http:%252F%252Fuser:${SECRET}%2540host/`);
  const id = await submitJob(server, {
    output_dir: "x",
    seeds: [`${site.origin}/p/1?token=${SECRET}`, `${site.origin}/none?token=${SECRET}`],
  });
  await untilJob(server, id, isOver);
  await server.get("/the-last-one");
  while (!server.stderr().includes("/the-last-one")) await Bun.sleep(20);
  expect(server.lines("extraction failed").length).toBeGreaterThan(3);
  expect(server.lines(SECRET)).toEqual([]);
});
