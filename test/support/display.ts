/** A display for browsers with a window: a virtual one, where the machine's own is not to be disturbed. */
export type Display = AsyncDisposable & {
  /** What a program needs to show windows on it. */
  readonly env: Readonly<Record<string, string>>;
};

/** Without Xvfb it is the machine's, if it has one; tests that open windows stand in test/wants.json. */
export async function openDisplay(): Promise<Display> {
  if (process.platform === "darwin" || !Bun.which("Xvfb"))
    return { env: {}, [Symbol.asyncDispose]: async () => {} };
  // It tells the number of the display that it has taken on its standard output.
  const server = Bun.spawn(["Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"], {
    stdout: "pipe",
    stderr: "ignore",
  });
  const { value } = await server.stdout.getReader().read();
  const number = new TextDecoder().decode(value).trim();
  if (!/^\d+$/.test(number)) throw new Error("Xvfb did not start");
  return {
    env: { DISPLAY: `:${number}` },
    async [Symbol.asyncDispose]() {
      server.kill();
      await server.exited;
    },
  };
}
