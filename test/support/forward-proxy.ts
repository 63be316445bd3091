/**
 * A forward proxy as a process of its own: CONNECT tunnels and absolute-form requests, Basic
 * authentication, names resolved by a table. Run by `startForwardProxy` below.
 *
 * Arguments: a JSON object {credentials: "user:password" | null, hosts: {name: "address:port"}}.
 * It writes one JSON line with its port, then one for each request.
 */
import net from "node:net";

type ProxyArguments = {
  readonly credentials: string | null;
  readonly hosts: Readonly<Record<string, string>>;
};

type ProxyRequest = { readonly line: string; readonly authorized: boolean; readonly head: string };

export type ForwardProxy = Awaited<ReturnType<typeof startForwardProxy>>;

/** Starts the proxy in a process of its own. */
export async function startForwardProxy(options: ProxyArguments) {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(options)], { stdout: "pipe" });
  const lines: string[] = [];
  let announce: (port: number) => void = () => {};
  const port = new Promise<number>((resolve) => {
    announce = resolve;
  });
  const reading = (async () => {
    let pending = "";
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      pending += decoder.decode(bytes, { stream: true });
      const parts = pending.split("\n");
      pending = parts.pop() ?? "";
      for (const part of parts) {
        const message: { port?: number } = JSON.parse(part);
        if (message.port !== undefined) announce(message.port);
        else lines.push(part);
      }
    }
  })();
  return {
    port: await port,
    /** What the proxy was asked so far. */
    async requests(): Promise<readonly ProxyRequest[]> {
      await Bun.sleep(50); // the pipe's last line may be under way
      return lines.map((line) => JSON.parse(line));
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      await reading;
    },
  };
}

async function serve(options: ProxyArguments): Promise<void> {
  const expected = options.credentials === null ? null : `Basic ${btoa(options.credentials)}`;
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      const request = bytes.toString("latin1");
      const [line = ""] = request.split("\r\n");
      const authorization = /^proxy-authorization: *(.*)$/im.exec(request)?.[1]?.trim() ?? null;
      const authorized = expected === null || authorization === expected;
      console.log(JSON.stringify({ line, authorized, head: request.split("\r\n\r\n")[0] }));
      if (!authorized) {
        const asking =
          'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 0\r\n\r\n';
        socket.end(asking);
        return;
      }
      const [method = "", target = ""] = line.split(" ");
      const url = method === "CONNECT" ? new URL(`http://${target}`) : new URL(target);
      const upstream = net.connect(addressOf(options, url.host), () => {
        if (method === "CONNECT") socket.write("HTTP/1.1 200 Connected\r\n\r\n");
        else upstream.write(forwarded(request, target, url), "latin1");
        upstream.pipe(socket);
        socket.pipe(upstream);
      });
      upstream.on("error", () => socket.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"));
      socket.on("close", () => upstream.destroy());
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address !== null && typeof address !== "string") console.log(JSON.stringify({ port: address.port }));
  });
}

function addressOf(options: ProxyArguments, host: string): { host: string; port: number } {
  const [name = "", port = "80"] = (options.hosts[host] ?? host).split(":");
  return { host: name, port: Number(port) };
}

// One request a connection: a second one could be for another host, or without the credentials.
const forwarded = (request: string, target: string, url: URL): string =>
  request
    .replace(target, `${url.pathname}${url.search}`)
    .replace(/^proxy-[a-z]+:.*\r\n/gim, "")
    .replace(/^connection:.*\r\n/gim, "Connection: close\r\n");

if (import.meta.main) await serve(JSON.parse(process.argv[2] ?? "{}"));
