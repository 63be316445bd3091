// Rewrites the golden corpus with the program's present output: `sh scripts/bun scripts/update-golden.ts`. Read the diff
// before you commit it.
import { formatCase, readGolden, renderPage } from "../test/support/golden.ts";

for (const { path, cases } of await readGolden()) {
  const written: string[] = [];
  for (const golden of cases) written.push(formatCase(golden, await renderPage(golden.input)));
  await Bun.write(path, written.join(""));
}
