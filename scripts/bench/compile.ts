/** Compiles an entry to an executable with the settings of the product's own build. */
export async function compileEntry(entry: string, outfile: string): Promise<void> {
  await Bun.build({
    entrypoints: [entry],
    format: "esm",
    target: "bun",
    minify: true,
    bytecode: true,
    splitting: true,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
}
