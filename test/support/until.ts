// As long as a hanging test may take: a busy machine is no reason to give up.
const GIVE_UP_MS = 100_000;
const PAUSE_MS = 10;

/** Asks until the answer is as wanted; gives the last answer when it never is, for the test to say what is wrong. */
export async function until<T>(ask: () => Promise<T> | T, isWanted: (answer: T) => boolean): Promise<T> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer) || performance.now() > giveUpAt) return answer;
    await Bun.sleep(PAUSE_MS);
  }
}

/** Waits until something is so. @throws when it never is */
export async function untilTrue(isSo: () => Promise<boolean> | boolean): Promise<void> {
  if (!(await until(isSo, Boolean))) throw new Error(`it never came to be: ${isSo}`);
}
