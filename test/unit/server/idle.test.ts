import { expect, test } from "bun:test";
import net from "node:net";
import { silentLog } from "../../../src/base/silent-log.ts";
import { parseAddressSet } from "../../../src/fetching/index.ts";
import { listen } from "../../../src/server/listen.ts";

test("a connection that is silent after its answer is closed after the given time", async () => {
  const listener = listen({
    host: "127.0.0.1",
    port: 0,
    basePath: "",
    trustedProxies: parseAddressSet("127.0.0.1"),
    handler: async () => new Response("moored"),
    log: silentLog,
    sharesPort: false,
    idleSeconds: 1,
  });
  const socket = net.connect(listener.port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
  const answer = Promise.withResolvers<void>();
  socket.once("data", () => answer.resolve());
  await answer.promise;
  // The runtime looks at its connections every four seconds.
  const closed = new Promise((resolve) => socket.once("close", () => resolve("closed")));
  expect(await Promise.race([closed, Bun.sleep(12_000).then(() => "open")])).toBe("closed");
  socket.destroy();
  await listener.close(0);
}, 20_000);
