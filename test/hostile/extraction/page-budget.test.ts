import { describe, expect, test } from "bun:test";

const PIECES = ["a<br>", "<p>a</p>", "<td>a", "<b>a</b>", "<a href=x>a</a>", "<i a b c d>a", "<", "&amp;"];

type Cost = { readonly outcome: string; readonly cpuMs: number; readonly peakMb: number };

/** What a page costs in a process of its own, whose memory is nobody else's. */
async function costOf(piece: string, length: number, renderings: string): Promise<Cost> {
  const script = `${import.meta.dir}/../../support/extract-one.ts`;
  const child = Bun.spawn([process.execPath, script, piece, String(length), renderings], { stdout: "pipe" });
  return (await new Response(child.stdout).json()) as Cost; // written by the script
}

// Measured alone: at most 2 s of CPU and 350 MB at 2 MB (127 000 links), 1 s and 400 MB at 20 MB. Without budgets line breaks took
// 3.5 s and 1.1 GB at 2 MB, and 40 s and 9 GB at 20 MB.
describe("a page that is all markup costs little, or is refused as too_complex:", () => {
  for (const piece of PIECES)
    test(piece, async () => {
      for (const [length, maxCpuMs, maxMb] of [
        [1_900_000, 5000, 400],
        [20_000_000, 12_000, 700],
      ] as const) {
        const cost = await costOf(piece, length, "content,markdown");
        expect(["extracted", "too_complex"]).toContain(cost.outcome);
        expect(cost.cpuMs).toBeLessThan(maxCpuMs);
        expect(cost.peakMb).toBeLessThan(maxMb);
      }
    });
});
