import { join } from "node:path";

/** Where the index of a folder of documents is kept: a hidden folder in it, which reading it leaves out. */
export const indexFileOf = (folder: string): string => join(folder, ".article-extractor", "search.index");
