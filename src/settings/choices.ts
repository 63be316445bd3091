import type { Engine, Favor } from "../extraction/index.ts";

/** The words of options that take one of a few. */
export const FAVORS = ["balanced", "precision", "recall"] as const satisfies readonly Favor[];
export const ENGINES = ["article-extractor", "readability"] as const satisfies readonly Engine[];
