import { expect, test } from "bun:test";
import { seededRandom } from "../damage-pages.ts";
import { type PlannedFault, planFaults, type Targets } from "./faults.ts";
import { expectMemory } from "./oracle.ts";
import { SCENARIOS } from "./scenarios.ts";

/** Chosen anew for each run, so that runs find more than one seed does. */
const anySeed = (): number => Math.floor(Math.random() * 1e6);
/** All that waits after a fault comes to its end within this time. */
const RECOVERY_MS = 300_000;

/**
 * Lets every scenario suffer from faults that a seed decides, and checks afterwards that nothing is lost, mixed up or
 * beyond a limit. `CHAOS_SEED` and `CHAOS_SECONDS` in the environment count before what is given.
 * @param seconds of faults in all
 */
export function testChaos(seconds: number, seed = anySeed()): void {
  const chosen = Number(process.env.CHAOS_SEED ?? seed);
  const each = Number(process.env.CHAOS_SECONDS ?? seconds) / Object.keys(SCENARIOS).length;
  for (const [name, run] of Object.entries(SCENARIOS)) {
    const title = `${each} s of chaos with ${name}: CHAOS_SEED=${chosen}`;
    const work = async (): Promise<void> => {
      console.log(title);
      await run(new Chaos(chosen, each));
    };
    test(title, work, each * 1000 + RECOVERY_MS);
  }
}

/** Some seconds of chaos, the same for the same seed. */
export class Chaos {
  readonly random: () => number;
  readonly seconds: number;
  readonly #startedAt = performance.now();
  readonly #names = new Set<string>();
  /** The faults that are there now. */
  readonly #present = new Set<{ isAlone: boolean }>();

  constructor(seed: number, seconds: number) {
    this.seconds = seconds;
    this.random = seededRandom(seed);
  }

  /** Prints what happens, for whoever looks for a fault of the program. */
  note(text: string): void {
    console.log(`  ${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s: ${text}`);
  }

  /** Whether one of these faults has been there. */
  hasHad(name: RegExp): boolean {
    return [...this.#names].some((had) => name.test(had));
  }

  /** Lets the faults loose on what a scenario gives, until their time is over or the work is done. */
  async unleash(targets: Targets, done: Promise<unknown> = new Promise(() => {})): Promise<void> {
    for (const [target, it] of Object.entries(targets))
      if (it === null) this.note(`left out: faults of the ${target}, which this machine does not allow`);
    const planned = planFaults(this.random, this.seconds, targets);
    const beginsAt = performance.now();
    const stop = new AbortController();
    const ended = done.then(
      () => stop.abort(),
      () => stop.abort(),
    );
    const wait = (untilMs: number): Promise<unknown> =>
      Promise.race([Bun.sleep(Math.max(0, beginsAt + untilMs - performance.now())), ended]);
    const expected = await Promise.all(
      planned.map(async (one) => {
        await wait(one.atMs);
        return stop.signal.aborted ? null : await this.#suffer(one, targets, wait);
      }),
    );
    for (const { name, words, before } of stop.signal.aborted ? [] : expected.filter((one) => one !== null)) {
      const said = targets.processes.map((one, place) => one.said().slice(before[place])).join("");
      // While all hosts rest after a 503, there is no work, which meets no fault.
      if (said !== "" || !this.hasHad(/unavailable/))
        expect(said, `what is said of "${name}"`).toMatch(words);
    }
    this.note(`a process has had ${Math.round(expectMemory(targets.processes) / 1000)} MB`);
  }

  async #suffer(
    { fault, atMs, lastsMs, share }: PlannedFault,
    targets: Targets,
    wait: (untilMs: number) => Promise<unknown>,
  ): Promise<Said | null> {
    const { name, says } = fault;
    this.note(`${name}, for ${Math.round(lastsMs)} ms (${share.toFixed(3)})`);
    this.#names.add(name);
    const before = targets.processes.map((one) => one.said().length);
    const startedAt = performance.now();
    const mine = { isAlone: this.#present.size === 0 };
    for (const other of this.#present) other.isAlone = false;
    this.#present.add(mine);
    const end = await fault.start(targets, share);
    await wait(atMs + lastsMs);
    const lastedMs = performance.now() - startedAt;
    await end();
    this.#present.delete(mine);
    this.note(`${name}: over`);
    // Beside another fault there may have been no work that meets this one.
    return says && mine.isAlone && lastedMs >= says.afterMs ? { name, words: says.words, before } : null;
  }
}

/** What has to be said of a fault, and how much had been said before. */
type Said = { readonly name: string; readonly words: RegExp; readonly before: readonly number[] };
