/** Serves on a free port of loopback; stop the server, or dispose of it, after use. */
export const serveLocal = (fetch: (request: Request) => Response | Promise<Response>) =>
  Bun.serve({ hostname: "127.0.0.1", port: 0, development: false, fetch });

/** What a process writes until it ends. @param child with pipes */
export async function outputOf(child: Bun.Subprocess<Bun.Spawn.Writable, "pipe", "pipe">) {
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, exitCode };
}

/** A port of loopback that nothing listens on now. */
export function freePort(): number {
  using server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  return server.port;
}
