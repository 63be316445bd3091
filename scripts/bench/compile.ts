import { compileSettings } from "../build.ts";

/** Compiles an entry to an executable with the settings of the product's own build. */
export async function compileEntry(entry: string, outfile: string): Promise<void> {
  await Bun.build({ ...compileSettings(outfile), entrypoints: [entry] });
}
