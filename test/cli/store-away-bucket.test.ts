import { expect, test } from "bun:test";
import { environmentFor, makeBucket, standBefore } from "../support/bucket.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { start } from "../support/scale/crawl.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

test.each([[[]], [["--log-level", "warning"]]])(
  "a crawl says on stderr, once, that its bucket is away and that it is back (%p)",
  async (more) => {
    const { name, options } = await makeBucket();
    await using faulty = standBefore(options);
    await using site = serveNumberedSite({ pages: 20, fanOut: 4 });
    using directory = temporaryDirectory();
    let puts = 0;
    let isAway = false;
    faulty.fault = ({ method }) => {
      if (method === "PUT" && ++puts === 5) isAway = true;
      return isAway ? new Response(null, { status: 503 }) : null;
    };
    const words = [
      "crawl",
      `${site.origin}/`,
      "--output-dir",
      `s3://${name}/p`,
      "--rate-limit",
      "0",
      ...more,
    ];
    await using crawl = start(words, { ...environmentFor(faulty.options), HOME: directory.path });
    await untilTrue(() => crawl.stderr().includes("store away") || crawl.hasEnded());
    isAway = false;
    expect({ code: await crawl.exited, said: crawl.stderr() }).toMatchObject({ code: 0 });
    const told = crawl.stderr().split("\n");
    expect(told.filter((line) => /store (?:away|back)/.test(line))).toEqual([
      expect.stringMatching(
        new RegExp(
          `^warning: store away; what needs it waits: could not write s3://${name}/p/\\S+: it answers with HTTP 503$`,
        ),
      ),
      "warning: store back",
    ]);
  },
);
