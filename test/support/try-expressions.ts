// Tries every regular expression of `src/` on texts that are made against it; prints those that are slow.
// Arguments: the repository, and the characters of the longest texts (300 000 unless told).
import {
  type Attack,
  attacksOn,
  attackText,
  type WrittenExpression,
  writtenExpressions,
} from "./regular-expressions.ts";

/** Characters, and CPU time that a linear expression does not need for them: a cubic one ends with the second. */
const TRIALS = [
  [30, 10],
  [300, 10],
  [6000, 15],
] as const;

const LONG = 100_000;
const LONGEST = Number(process.argv[3] ?? 300_000);
/** Attacks that are tried at the great lengths: those that took longest at the length before. */
const HARDEST = { long: 5, longest: 1 };
/** A step of a linear expression takes less than this by far; a quadratic one takes a step for each character. */
const NS_PER_CHARACTER = 150;
/** Four times the text takes a linear expression four times the time, a quadratic one sixteen times. */
const MAX_GROWTH = 10;
/** All of these trials must show too much growth, because other work slows a machine now and then. */
const GROWTH_TRIALS = 3;

/** Matches that are looked for: more would be much the same ones. */
const MAX_MATCHES = 200;

const cpuMs = (expression: RegExp, text: string): number => {
  const before = process.cpuUsage().user;
  // A global expression finds its matches one after another.
  expression.lastIndex = 0;
  let matches = 0;
  while (expression.test(text) && expression.global && ++matches < MAX_MATCHES);
  return (process.cpuUsage().user - before) / 1000;
};

/** Takes the least time of some runs, because a run may also compile the expression or collect garbage. */
function leastMs(expression: RegExp, text: string, runs = 3): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) least = Math.min(least, cpuMs(expression, text));
  return least;
}

/** Whether a text of this length takes more time than steps for its characters, and more than its length explains. */
function growsTooFast(expression: RegExp, attack: Attack, length: number): boolean {
  const allowedMs = (length * NS_PER_CHARACTER) / 1e6;
  const text = attackText(attack, length);
  if (cpuMs(expression, text) <= allowedMs || leastMs(expression, text, 2) <= allowedMs) return false;
  const part = attackText(attack, length / 4);
  for (let trial = 0; trial < GROWTH_TRIALS; trial++)
    if (leastMs(expression, text, 2) <= MAX_GROWTH * leastMs(expression, part)) return false;
  return true;
}

/** The characters of the shortest text that is too much for an expression; null when none is. */
function tooMuch(written: WrittenExpression): number | null {
  const expression = new RegExp(written.source, written.flags.replace("y", ""));
  const attacks = attacksOn(written);
  let hardest: readonly Attack[] = attacks;
  for (const [length, limitMs] of TRIALS) {
    const isTooMuch = (attack: Attack): boolean =>
      leastMs(expression, attackText(attack, length), 2) > limitMs;
    const times = new Map(attacks.map((attack) => [attack, cpuMs(expression, attackText(attack, length))]));
    if (attacks.some((attack) => times.get(attack)! > limitMs && isTooMuch(attack))) return length;
    hardest = attacks.toSorted((a, b) => times.get(b)! - times.get(a)!);
  }
  const times = new Map<Attack, number>();
  for (const attack of hardest.slice(0, HARDEST.long)) {
    const before = performance.now();
    if (growsTooFast(expression, attack, LONG)) return LONG;
    times.set(attack, performance.now() - before);
  }
  hardest = [...times.keys()].sort((a, b) => times.get(b)! - times.get(a)!);
  const isTooMuch = hardest
    .slice(0, HARDEST.longest)
    .some((attack) => growsTooFast(expression, attack, LONGEST));
  return isTooMuch ? LONGEST : null;
}

const written = await writtenExpressions(process.argv[2] ?? ".");
const distinct = [
  ...new Map(written.map((one) => [`${one.file} /${one.source}/${one.flags}`, one])).entries(),
];
const slow = distinct.flatMap(([expression, one]) => {
  const characters = tooMuch(one);
  return characters === null ? [] : [{ expression, characters }];
});
process.stdout.write(JSON.stringify({ count: written.length, slow }));
