import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runBinary } from "./binary.ts";
import { temporaryDirectory } from "./temporary.ts";

/** Part of the JSON Schema of `deployment.json`, as `article-extractor schema` prints it. */
export type SchemaField = {
  readonly type?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly properties?: Readonly<Record<string, SchemaField>>;
  readonly items?: SchemaField;
  readonly anyOf?: readonly SchemaField[];
  readonly oneOf?: readonly SchemaField[];
  readonly const?: string;
};

/** The schema that the built program prints. */
export async function printedSchema(): Promise<SchemaField> {
  const { exitCode, stdout, stderr } = await runBinary(["schema"]);
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** What the built program's `validate` says against a deployment file, one line each without the file's name. */
export async function validated(deployment: unknown): Promise<readonly string[]> {
  using directory = temporaryDirectory();
  const text = typeof deployment === "string" ? deployment : JSON.stringify(deployment);
  writeFileSync(join(directory.path, "d.json"), text);
  const { exitCode, stderr } = await runBinary(["validate", "d.json"], { cwd: directory.path });
  const lines = stderr.split("\n").flatMap((line) => /^error: (?:d\.json: )?(.*)$/.exec(line)?.[1] ?? []);
  if (lines.length > 0 !== (exitCode === 2)) throw new Error(`exit code ${exitCode}: ${stderr}`);
  return lines;
}

/** Writes files below a directory; gives its path. */
export function writeFiles(root: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}
