import { existsSync } from "node:fs";
import { join } from "node:path";
import { quoteForShell } from "../../../base/text.ts";
import type { Typed } from "../../arguments.ts";
import { isFolder } from "../../input.ts";
import { wrongUsage } from "../../io.ts";
import { optionValue } from "../../option-values.ts";
import { FORM_BY_WORD } from "../../output-forms.ts";

/** The name of the file that says what became of each page of a list, in the folder of its pages. */
export const MANIFEST_NAME = "manifest.jsonl";

/** The destination of an extraction's results. */
export type ListPlace = {
  /** Null writes to stdout. */
  readonly outputFile: string | null;
  /** The file of JSON lines that is continued. */
  readonly resumeFile: string | null;
  /** The folder that gets a file for each page; null for none. */
  readonly directory: string | null;
  /** Whether to take the pages that failed in an earlier run. */
  readonly retriesFailed: boolean;
};

/** @throws Failure `invalid_usage` for two places, and for one that holds no failed pages to try again */
export function readPlace(typed: Typed): ListPlace {
  const outputFile = optionValue.path(typed, "output-file");
  const resumeFile = optionValue.path(typed, "resume");
  if (resumeFile === "-")
    throw wrongUsage("--resume needs a file that can be read again, not standard output");
  // With earlier programs this chose the form.
  if (outputFile !== null && Object.hasOwn(FORM_BY_WORD, outputFile))
    throw wrongUsage(
      `-o names a file; did you mean --output ${outputFile}? (-o ./${outputFile} writes a file of that name)`,
    );
  const retried = optionValue.path(typed, "retry-failed");
  if (retried !== null) return retriedPlace(retried, typed);
  const given = ["output-dir", "output-file", "resume"].filter(typed.has);
  if (given.length > 1) throw wrongUsage(`--${given[0]} and --${given[1]} exclude each other`);
  const directory = optionValue.path(typed, "output-dir") ?? (outputFile?.endsWith("/") ? outputFile : null);
  const isStdout = outputFile === "-" || directory !== null;
  return { outputFile: isStdout ? null : outputFile, resumeFile, directory, retriesFailed: false };
}

function retriedPlace(retried: string, typed: Typed): ListPlace {
  const others = ["output-dir", "output-file", "resume", "input-file", "file"].filter(typed.has);
  const other = typed.positionals.length > 0 ? "the URL" : others[0] && `--${others[0]}`;
  if (other !== undefined)
    throw wrongUsage(`--retry-failed takes the pages from where it writes; leave out ${other}`);
  if (!isFolder(retried)) {
    if (!existsSync(retried)) throw wrongUsage(`--retry-failed: there is no folder or file ${retried}`);
    return { outputFile: null, resumeFile: retried, directory: null, retriesFailed: true };
  }
  if (!existsSync(join(retried, MANIFEST_NAME)))
    throw wrongUsage(
      existsSync(join(retried, "manifest.json"))
        ? `${retried} holds a crawl: article-extractor crawl --retry-failed ${quoteForShell(retried)}`
        : `--retry-failed: ${retried} holds no ${MANIFEST_NAME} of a list`,
    );
  return { outputFile: null, resumeFile: null, directory: retried, retriesFailed: true };
}
