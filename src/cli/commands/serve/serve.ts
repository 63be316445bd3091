import { partsOf, type Run } from "../../shell.ts";

/** Runs `serve`. */
export const serve: Run = async (shell) =>
  shell.typed.positionals[0] === "extractor"
    ? await (await import("./extractor.ts")).serveExtractor(partsOf(shell))
    : await (await import("./search.ts")).serveSearch(partsOf(shell));
