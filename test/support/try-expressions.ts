// Tries every regular expression of `src/` on texts that are made against it; prints those that are slow.
import { attacks, type WrittenExpression, writtenExpressions } from "./regular-expressions.ts";

/** Characters, and CPU time that a linear expression does not need for them: a cubic one ends with the second. */
const TRIALS = [
  [30, 10],
  [300, 10],
  [12_000, 40],
] as const;

const cpuMs = (expression: RegExp, text: string): number => {
  const before = process.cpuUsage().user;
  expression.test(text);
  return (process.cpuUsage().user - before) / 1000;
};

function isSlow(written: WrittenExpression): boolean {
  const expression = new RegExp(written.source, written.flags.replace(/[gy]/g, ""));
  // Twice, as the first run may compile it, or garbage be collected.
  for (const [length, limitMs] of TRIALS)
    for (const text of attacks(written, length))
      if (cpuMs(expression, text) > limitMs && cpuMs(expression, text) > limitMs) return true;
  return false;
}

const written = await writtenExpressions(process.argv[2] ?? ".");
const slow = written.filter(isSlow).map(({ file, source, flags }) => `${file} /${source}/${flags}`);
process.stdout.write(JSON.stringify({ count: written.length, slow: [...new Set(slow)] }));
