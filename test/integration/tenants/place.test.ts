import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { readDeployment } from "../../../src/settings/index.ts";
import { Place } from "../../../src/tenants/index.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

test("of any deployments that claim one directory at once, one has it", async () => {
  using directory = temporaryDirectory();
  const files = fc.uniqueArray(fc.nat(50), { minLength: 2, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(files, async (numbers) => {
      const rootDir = join(directory.path, crypto.randomUUID());
      const text = JSON.stringify({
        tenants: [
          {
            source_type: "online",
            codename: "guide",
            docs_name: "Guide",
            docs_root_dir: rootDir,
            docs_entry_url: "https://a.example/",
          },
        ],
      });
      const [settings] = readDeployment(text, { name: "d.json", directory: "/" }).tenants;
      const places = numbers.map((number) => {
        const deployment = { name: null, file: `/srv/${number}/deployment.json` };
        return new Place(settings!, { deployment, stateDirectory: directory.path });
      });
      const claims = await Promise.allSettled(places.map((place) => place.claim()));
      const won = claims.flatMap(({ status }, number) => (status === "fulfilled" ? [number] : []));
      expect(won).toHaveLength(1);
      const { owner } = places[won[0]!]!;
      expect(readFileSync(join(rootDir, ".article-extractor/owner.json"), "utf8")).toBe(owner);
      expect(readdirSync(join(rootDir, ".article-extractor"))).toEqual(["owner.json"]);
      expect(places.map((place) => place.refusal() === null)).toEqual(numbers.map((_, at) => at === won[0]));
    }),
    { numRuns: 20 },
  );
});
