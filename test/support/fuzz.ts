import { Failure } from "../../src/base/failure.ts";
import type { FuzzedParser } from "./fuzzed-parsers.ts";

/** CPU time that no text of this length needs. */
const LIMIT_MS = 2000;
const MAX_BYTES = 20_000;

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A text made from a parser's own ones: pieces cut out, repeated, moved, and bytes changed. */
export function mutated({ seeds }: FuzzedParser, seed: number): Uint8Array {
  const random = randomOf(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const first = seeds[below(seeds.length)] ?? "";
  let bytes = typeof first === "string" ? Buffer.from(first) : Buffer.from(first);
  for (let step = 1 + below(8); step > 0; step--) {
    const at = below(bytes.length + 1);
    const piece = bytes.subarray(at, at + 1 + below(random() < 0.5 ? 4 : 60));
    const rest = bytes.subarray(at + piece.length);
    const made = [
      () => [bytes.subarray(0, at), rest],
      () => [bytes.subarray(0, at), ...Array<Buffer>(1 + below(300)).fill(piece), rest],
      () => [rest, piece, bytes.subarray(0, at)],
      () => [bytes.subarray(0, at), Buffer.from([below(256)]), piece, rest],
      () => [bytes.subarray(0, at)],
    ][below(5)]!();
    bytes = Buffer.concat(made).subarray(0, MAX_BYTES);
  }
  return bytes;
}

/** What is wrong with a parser's answer to these bytes: another error than a Failure, or too much time; else null. */
export async function faultOf({ parse }: FuzzedParser, bytes: Uint8Array): Promise<string | null> {
  const before = process.cpuUsage();
  try {
    await parse(bytes);
  } catch (error) {
    if (!(error instanceof Failure) || error.code === "internal") return String(error).slice(0, 200);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 > LIMIT_MS ? `took ${Math.round((user + system) / 1000)} ms of CPU` : null;
}
