import { expect, test } from "bun:test";
import { join } from "node:path";
import { freePorts, SAMPLE_PORTS } from "../support/sample-site.ts";
import { untilTrue } from "../support/until.ts";

const ROOT = join(import.meta.dir, "../..");

const serve = (port: number | string) =>
  Bun.spawn(["make", "--silent", "sample-site", `PORT=${port}`], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });

test("make sample-site serves the examples' site on loopback, says where, and ends when it is told to", async () => {
  const port = freePorts();
  const made = serve(port);
  const { value: said } = await made.stdout.getReader().read();
  expect(String(Buffer.from(said ?? []))).toStartWith(
    `The sample site is at http://localhost:${port}/ until Ctrl-C.\n`,
  );
  expect(await (await fetch(`http://localhost:${port}/`)).text()).toContain("Weirside Works");
  const secure = fetch(`https://localhost:${port + 1}/`, { tls: { rejectUnauthorized: false } });
  expect((await secure).status).toBe(200);

  const second = serve(port);
  expect(await new Response(second.stderr).text()).toContain("another port: make sample-site PORT=40000");
  expect(await second.exited).not.toBe(0);

  process.kill(-made.pid, "SIGINT"); // what Ctrl-C does
  await made.exited;
  await untilTrue(() =>
    fetch(`http://localhost:${port}/`).then(
      () => false,
      () => true,
    ),
  );
});

test("a port that is none is refused with what was given", async () => {
  const made = serve("eighty");
  expect(await new Response(made.stderr).text()).toContain("PORT=eighty is not a port from 1 to 65534");
  expect(await made.exited).not.toBe(0);
});

test("the documentation names the ports of the sample site", async () => {
  const page = await Bun.file(join(ROOT, "docs/start.md")).text();
  expect(page).toContain(`http://localhost:${SAMPLE_PORTS.http}/`);
});
