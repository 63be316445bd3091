/**
 * Builds the documentation as a site: `sh scripts/bun scripts/docs.ts` writes `docs/` to dist/docs. With `--base /path/` the
 * page for unknown addresses finds the site below that path, and with `--out DIR` it is written elsewhere.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readPages } from "./docs/pages.ts";
import { writeSite } from "./docs/site.ts";

const ROOT = join(import.meta.dir, "..");

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      base: { type: "string", default: "/" },
      out: { type: "string", default: join(ROOT, "dist/docs") },
    },
  });
  const project = Bun.file(join(ROOT, "project.json"));
  const { repository = null } = (await project.exists()) ? await project.json() : {};
  const pages = await readPages(join(ROOT, "docs"), repository);
  await writeSite(pages, { directory: values.out, base: `${values.base.replace(/\/+$/, "")}/` });
  console.log(`${pages.length} pages in ${values.out}`);
}
