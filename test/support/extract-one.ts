// Extracts a page of so many repeated characters and says what it took: `extract-one.ts PIECE LENGTH RENDERINGS`.

import { Failure } from "../../src/base/failure.ts";
import type { Rendering } from "../../src/extraction/index.ts";
import { extractHtml } from "../../src/extraction/pool.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";

const [piece = "", length = "0", renderings = ""] = process.argv.slice(2);
const html = piece.repeat(Number(length) / piece.length);
const options = {
  ...DEFAULT_EXTRACTION,
  renderings: renderings.split(",").filter(Boolean) as Rendering[], // written by the test
};
const before = process.cpuUsage();
const outcome = await extractHtml(html, null, options).then(
  () => "extracted",
  (error: unknown) => (error instanceof Failure ? error.code : String(error)),
);
const { user, system } = process.cpuUsage(before);
// `maxRSS` would not do, because a forked process begins with the value of its parent.
const status = await Bun.file("/proc/self/status").text();
const peakMb = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
process.stdout.write(JSON.stringify({ outcome, cpuMs: (user + system) / 1000, peakMb }));
