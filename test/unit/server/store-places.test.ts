import { expect, test } from "bun:test";
import type { JobRecord } from "../../../src/crawler/index.ts";
import { openObjectStore } from "../../../src/scale/objects/open.ts";
import { storePlaces } from "../../../src/server/index.ts";
import { optionsFor } from "../../support/bucket.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

test.each([1, 7, 199, 200, 201, 100_000])(
  "finds whose a manifest is when the store sends it %d bytes at a time",
  async (size) => {
    using directory = temporaryDirectory();
    const location = { kind: "directory", path: directory.path } as const;
    await using store = await openObjectStore(location, optionsFor("http://127.0.0.1:1"));
    const written = JSON.stringify({ job_id: "mine", results: "x".repeat(1000) }, null, 2);
    await store.put("crawl/manifest.json", written);
    async function* inPieces() {
      for (let from = 0; from < written.length; from += size)
        yield new TextEncoder().encode(written.slice(from, from + size));
    }
    const places = storePlaces({ ...store, stream: async () => inPieces() }, null);
    // The rest of a record does not matter here.
    const job = (id: string) => ({ id, place: `${store.url}/crawl` }) as JobRecord;
    const manifest = await places.manifest(job("mine"));
    expect(manifest && (await new Response(manifest).text())).toBe(written);
    expect(await places.manifest(job("other"))).toBeNull();
  },
);
