/**
 * Serves on a free port of loopback; stop the server, or dispose of it, after use. By default Bun closes a connection
 * that is silent for 10 s, as any answer is on a busy machine.
 */
export const serveLocal = (
  fetch: (request: Request) => Response | Promise<Response>,
  hostname = "127.0.0.1",
) => Bun.serve({ hostname, port: 0, development: false, idleTimeout: 0, fetch });

/** Waits until a server answers that does not say where it is, because of its log's level. @returns its origin */
export async function untilReady(port: number): Promise<string> {
  const origin = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${origin}/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await Bun.sleep(20);
  return origin;
}

/** What a process writes until it ends. @param child with pipes */
export async function outputOf(child: Bun.Subprocess<Bun.Spawn.Writable, "pipe", "pipe">) {
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, exitCode };
}

/**
 * A port of loopback that nothing listens on now. It lies below those that systems give to whoever asks for any, so
 * that it stays free until somebody listens, and while a server on it starts again.
 */
export function freePort(): number {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000);
    try {
      using _ = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
}
