import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KILLS } from "../support/kills.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { untilTrue } from "../support/until.ts";

const PAGES = 100;
const OLD = "abalone";
const NEW = "barnacle";

/** Pages whose text takes a while to index; each holds the word. */
function writePages(root: string, word: string): void {
  mkdirSync(join(root, "docs"), { recursive: true });
  for (let number = 0; number < PAGES; number++) {
    const words = Array.from({ length: 250 }, (_, index) => `w${(index * 7919 + number * 104729) % 20011}`);
    writeFileSync(join(root, `docs/page-${number}.md`), `# Page ${number}\n\n${word} ${words.join(" ")}\n`);
  }
}

/** How many pages have a word; an error of the search fails the test. */
async function count(served: Served, word: string): Promise<number> {
  const { error, results } = await served.call("root_search", {
    tenant_codename: "tool",
    query: word,
    size: 100,
    word_match: true,
  });
  expect(error).toBeNull();
  return results.length;
}

test(
  `killed at ${KILLS} moments of an index build, a server answers the old state or the new one`,
  async () => {
    const root = writeDeployment();
    const words = [OLD, NEW] as const;
    writePages(root, OLD);
    let current: string = OLD;
    {
      await using first = await Served.start(root);
      await untilTrue(async () => (await first.search(OLD)).error === null);
    }
    let killedWhileBuilding = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const other = words.find((word) => word !== current) ?? NEW;
      writePages(root, other);
      await using served = await Served.start(root);
      // From the first answer on it is one state or the other, never half of one and never none.
      const endAt = performance.now() + Math.random() * 400;
      do {
        const [before, after] = [await count(served, current), await count(served, other)];
        expect([before, after].filter((found) => found === 100)).not.toEqual([]);
      } while (performance.now() < endAt);
      const status = await fetch(`${served.url}/tool/sync/status`).then((answer) => answer.json());
      if ((status as { state: string }).state !== "idle") killedWhileBuilding++;
      served.child.kill("SIGKILL");
      await served.child.exited;
      await using again = await Served.start(root);
      const [before, after] = [await count(again, current), await count(again, other)];
      expect([before, after].filter((found) => found === 100)).not.toEqual([]);
      await untilTrue(async () => (await count(again, other)) === 100);
      expect(await count(again, other)).toBe(100);
      current = other;
    }
    console.log(`killed during ${killedWhileBuilding} of ${KILLS} builds`);
    expect(killedWhileBuilding).toBeGreaterThan(0);
  },
  20_000 * KILLS,
);
