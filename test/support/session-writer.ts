/**
 * Sets cookies in a shared storage state, one change each, and ends.
 * Arguments: the file, a prefix of the cookies' names, how many.
 */

import { silentLog } from "../../src/base/silent-log.ts";
import { createBrowsingSession, openStorage } from "../../src/fetching/index.ts";

const [file = "", prefix = "", count = "0"] = process.argv.slice(2);
const storage = openStorage({
  file,
  queueDirectory: null,
  takesUnowned: true,
  maxEntries: 20,
  maxAgeMs: 60_000,
  retentionMs: 300_000,
  log: silentLog,
  now: Date.now,
});
await using session = createBrowsingSession(storage, Date.now);
for (let n = 0; n < Number(count); n++) {
  // The cookies are spread over many sites, because one site may keep only as many as in browsers.
  session.cookies.store(new URL(`http://shop${n % 50}.test/`), [`${prefix}${n}=${n}; Max-Age=3600`]);
  await session.saved();
  // The change is reported as saved, so from here on no kill may lose it.
  console.log(`${prefix}${n}`);
}
