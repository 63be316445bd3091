const PROMPT = "typed-by-a-person$ ";

/** A shell in a terminal, into which somebody types. */
export interface TerminalSession extends AsyncDisposable {
  /** Types a line and waits until the shell asks for the next; returns what was shown in between. */
  type(line: string): Promise<string>;
}

/** Opens a terminal with bash, without the settings of whoever runs the tests. @param env all that the shell gets */
export async function openTerminal(
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<TerminalSession> {
  const decoder = new TextDecoder();
  let shown = "";
  let tell = (): void => {};
  const shell = Bun.spawn(["bash", "--norc", "--noprofile", "--noediting", "-i"], {
    cwd,
    env: { TERM: "dumb", ...env, PS1: PROMPT },
    terminal: {
      cols: 200,
      rows: 50,
      data: (_, bytes) => {
        shown += decoder.decode(bytes, { stream: true });
        if (shown.endsWith(PROMPT)) tell();
      },
    },
  });
  const untilAsked = () =>
    new Promise<void>((resolve) => {
      tell = resolve;
      if (shown.endsWith(PROMPT)) resolve();
    });
  await untilAsked();
  return {
    type: async (line) => {
      shown = "";
      shell.terminal?.write(`${line}\n`);
      await untilAsked();
      return shown
        .slice(0, -PROMPT.length)
        .replaceAll("\r\n", "\n")
        .slice(line.length + 1);
    },
    [Symbol.asyncDispose]: async () => {
      // As closing the window does, for what was left in the background, too.
      shell.terminal?.close();
      shell.kill("SIGHUP");
      await shell.exited;
    },
  };
}
