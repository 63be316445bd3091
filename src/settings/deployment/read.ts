import { type JSONVisitor, visit } from "jsonc-parser";
import { Failure } from "../../base/failure.ts";
import { problemLines, type RawDeployment } from "./problems.ts";
import { checkDeployment } from "./schema.ts";
import { translateDeployment } from "./translate.ts";
import type { Deployment } from "./types.ts";

/** Longer files are a mistake; this limit has room for ten thousand tenants. */
export const MAX_DEPLOYMENT_BYTES = 32 * 1024 * 1024;

/**
 * Reads the text of a `deployment.json`. It is strict at every level: unknown fields, wrong types, values out
 * of range and broken rules between fields are all reported at once.
 * @param options.name the file's name in messages
 * @param options.directory absolute; a relative `docs_root_dir` is resolved against it
 * @throws Failure `invalid_settings` with a line for each problem: the JSON path, then what it must be
 */
export function readDeployment(
  text: string,
  options: { readonly name: string; readonly directory: string },
): Deployment {
  const json = parseJson(text, options.name);
  const checked = checkDeployment(json);
  // Rules between fields are checked on the raw JSON, so that they are reported together with the rest.
  const lines = problemLines("problems" in checked ? checked.problems : [], json as RawDeployment);
  if (lines.length > 0 || !("file" in checked))
    throw new Failure("invalid_settings", lines.map((line) => `${options.name}: ${line}`).join("\n"));
  return translateDeployment(checked.file, options.directory);
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^JSON Parse error: /, "") : "";
    throw new Failure("invalid_settings", `${name}: ${placeOfError(text)}not JSON: ${why.slice(0, 200)}`);
  }
}

/**
 * Returns `line 3, column 8: `, counted from 1 as in editors, or an empty text when the place is not found.
 */
function placeOfError(text: string): string {
  let place = "";
  const onError: JSONVisitor["onError"] = (_code, _offset, _length, line, column) => {
    place ||= `line ${line + 1}, column ${column + 1}: `;
  };
  try {
    visit(text.replace(/^\uFEFF/, ""), { onError }, { disallowComments: true });
  } catch (error) {
    // A RangeError means that the text is nested too deeply to be walked.
    if (!(error instanceof RangeError)) throw error;
  }
  return place;
}
