import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ProfileHistory, type Released } from "../../../src/articles/rendering-history.ts";

const SAME = { isSame: true, asked: "" };
const OTHER = { isSame: false, asked: "" };

/** Takes in pages one after another, each with its comparison, and tells which of them were rendered. */
function renderedOf(history: ProfileHistory, pages: readonly boolean[]): number[] {
  const rendered: number[] = [];
  const compare = (place: number): void => {
    rendered.push(place);
    const isSame = pages[place - 1] ?? true;
    for (const other of history.note(place, isSame ? SAME : OTHER).compared) compare(other);
  };
  for (const _ of pages) {
    const { place, isCompared } = history.next();
    if (isCompared) compare(place);
  }
  return rendered.sort((a, b) => a - b);
}

describe("a script profile", () => {
  test("is rendered eight times, and then every twentieth time", () => {
    expect(renderedOf(new ProfileHistory(), Array(68).fill(true))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 28, 48, 68,
    ]);
  });

  test("is rendered until eight pages running were the same", () => {
    const rendered = renderedOf(
      new ProfileHistory(),
      Array.from({ length: 30 }, (_, at) => at !== 6),
    );
    expect(rendered).toEqual([...Array(15).keys()].map((at) => at + 1));
  });

  test("is rendered for good after a difference, and what came since the last comparison is rendered too", () => {
    const rendered = renderedOf(
      new ProfileHistory(),
      Array.from({ length: 60 }, (_, at) => at !== 27),
    );
    expect(rendered).toEqual([...Array(60).keys()].map((at) => at + 1));
  });

  test("whose pages read different data is never trusted", () => {
    const history = new ProfileHistory();
    for (let page = 0; page < 50; page++) {
      const { place, isCompared } = history.next();
      expect(isCompared).toBe(true);
      history.note(place, { isSame: true, asked: `/data/${page}` });
    }
  });

  test("has the last page that waits compared when no other comes", () => {
    const history = new ProfileHistory();
    renderedOf(history, Array(8).fill(true));
    const waiting = [history.next(), history.next(), history.next()].map(({ place }) => place);
    expect(history.compareLast()).toEqual({ stand: [], compared: waiting.slice(2) });
    expect(history.note(waiting[2] ?? 0, SAME)).toEqual({ stand: waiting.slice(0, 2), compared: [] });
    expect(history.compareLast()).toEqual({ stand: [], compared: [] });
  });
});

/** A step of pages that come and go at the same time: the next one comes, a comparison ends, or nothing happens. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("next" as const), isSame: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("next" as const), isSame: fc.constant(true) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("end" as const), which: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave" as const), which: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("quiet" as const) }) },
);

test("a page stands only when a later page was rendered and was the same, whatever the order of events", () => {
  const run = (steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]): void => {
    const history = new ProfileHistory();
    const pages: boolean[] = [];
    const comparing: number[] = [];
    const waiting = new Set<number>();
    let lastSame = 0;
    let hasDiffered = false;
    let left = 0;
    const release = ({ stand, compared }: Released): void => {
      for (const place of stand) {
        expect(waiting.delete(place)).toBe(true);
        expect(place).toBeLessThan(lastSame);
      }
      for (const place of compared) {
        expect(waiting.delete(place)).toBe(true);
        comparing.push(place);
      }
    };
    for (const event of steps) {
      if (event.kind === "next") {
        const { place, isCompared } = history.next();
        pages[place] = event.isSame;
        if (isCompared) comparing.push(place);
        else waiting.add(place);
      } else if (event.kind === "quiet") release(history.compareLast());
      else if (event.kind === "leave") {
        const [place] = comparing.splice(event.which % Math.max(1, comparing.length), 1);
        if (place === undefined) continue;
        history.leave(place);
        left++;
      } else {
        const [place] = comparing.splice(event.which % Math.max(1, comparing.length), 1);
        if (place === undefined) continue;
        const isSame = pages[place] ?? true;
        if (isSame) lastSame = place;
        else hasDiffered = true;
        const released = history.note(place, isSame ? SAME : OTHER);
        release(released);
        if (!isSame) expect(waiting.size).toBe(0);
      }
    }
    // Every 20th page is compared, so more wait only for a comparison that was left.
    expect(hasDiffered || history.isComparing || waiting.size <= 40 + 20 * left).toBe(true);
    // Nobody is forgotten: a page is rendered, stands, or is among those that wait.
    for (const _ of [...waiting]) release(history.compareLast());
    expect([waiting.size, history.compareLast().compared]).toEqual([0, []]);
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 200, size: "max" }), run), { numRuns: 500 });
});
