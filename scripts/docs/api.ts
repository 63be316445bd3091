import { join } from "node:path";
import { CRAWL_FLAGS } from "../../src/cli/flags/pages.ts";

/** The parts of an OpenAPI document that the reference shows. */
type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};
type Content = { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> };
type Operation = {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
    readonly description?: string;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
};
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const PROGRAM = join(import.meta.dir, "../../bin/article-extractor.ts");

/** What a server says of its API, asked of the program as it is in the sources. */
export async function openApiOf(server: "extractor" | "search", directory: string): Promise<OpenApi> {
  const deployment = join(directory, "deployment.json");
  await Bun.write(deployment, '{"tenants": []}');
  await using child = Bun.spawn(
    [process.execPath, PROGRAM, "serve", server, "--host", "127.0.0.1", "--port", "0"],
    {
      cwd: directory,
      env: { PATH: process.env.PATH, HOME: directory, ARTICLE_EXTRACTOR_STATE_DIR: directory },
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  const url = await addressIn(child.stderr);
  return (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi; // its own form
}

/** The address that a server's log names at its start. */
async function addressIn(log: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of log) {
    text += decoder.decode(bytes, { stream: true });
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
    if (address) return address;
  }
  throw new Error(`the server did not start: ${text}`);
}

/** The references of both servers in Markdown: the operations that they share, then those of each. */
export function apiReferences(
  extractor: OpenApi,
  search: OpenApi,
): Readonly<Record<"both" | "extractor" | "search", string>> {
  const own = [operationTexts(extractor), operationTexts(search)] as const;
  const shared = own[0].filter((text) => own[1].includes(text));
  const withoutShared = (texts: readonly string[]): string =>
    texts.filter((text) => !shared.includes(text)).join("\n\n");
  return { both: shared.join("\n\n"), extractor: withoutShared(own[0]), search: withoutShared(own[1]) };
}

/**
 * Each operation with its fields and its answers. Parts of a path explain themselves; parts of a body that an earlier
 * operation has too are only named.
 */
function operationTexts(api: OpenApi): readonly string[] {
  const shown = new Map<string, string>();
  return Object.entries(api.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      operationText(`${method.toUpperCase()} ${path}`, operation, api, shown),
    ),
  );
}

function operationText(name: string, operation: Operation, api: OpenApi, shown: Map<string, string>): string {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content?.["application/json"]?.schema;
  const fields = [
    ...parameters
      .filter((one) => one.in !== "path")
      .map((one) => ({
        name: one.name,
        schema: resolved(one.schema, api),
        meaning: (one.in === "header" ? "Header. " : "") + (one.description ?? ""),
        isRequired: one.required === true,
      })),
    ...(body ? withoutShown(fieldsOf(body, api), name, shown) : []),
  ];
  const rows = fields.map(({ name, schema, meaning, isRequired }) => [
    `\`${name}\``,
    typeOf(schema, api) + (isRequired ? ", required" : defaultOf(schema)),
    asOption(meaning || schema.description || ""),
  ]);
  const answers = Object.entries(responses)
    .filter(([status, answer]) => !isUsual(status, answer))
    .map(([status, answer]) => `- ${status}${typeNames(answer)}: ${lowerFirst(answer.description)}`);
  return [
    `### ${name}`,
    [summary, description].filter(Boolean).join(". ").replace(/\.?$/, "."),
    rows.length > 0 ? table(["Field", "Type", "Meaning"], rows) : "",
    answers.join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** What a field means; the option of the command line that means the same where there is one. */
function asOption(meaning: string): string {
  const same = CRAWL_FLAGS.find(
    ({ help }) => help.replace(/ \((?:default .*|repeatable)\)$/, "") === meaning,
  );
  return same ? `As \`--${same.name}\`` : meaning;
}

/** The fields of a body, without those of objects that an earlier operation has shown in full. */
function withoutShown(
  fields: readonly Field[],
  operation: string,
  shown: Map<string, string>,
): readonly Field[] {
  return fields.flatMap((field) => {
    const parent = field.name.split(".")[0] ?? "";
    const whole = JSON.stringify(fields.filter(({ name }) => name.startsWith(`${parent}.`)));
    if (whole === "[]") return field;
    const first = shown.get(whole) ?? operation;
    shown.set(whole, first);
    if (first === operation) return field;
    return field.name === parent ? { ...field, meaning: `As in \`${first}\`` } : [];
  });
}

/** What any operation may answer; the page says it once. */
const EVERYWHERE: ReadonlySet<string> = new Set([
  "400 The body is not JSON",
  "400 The job is not completed",
  "401 The API key is missing or wrong",
  "403 The egress policy refuses an address, or the Origin is foreign",
  "403 The Host or Origin is not one that the server answers to",
  "404 There is no such job",
  "404 There is no such job, or a later crawl has replaced its manifest",
  "404 There is no such tenant",
  "408 The body took longer than 10 s to arrive",
  "413 The body is over 2 MiB",
  "415 The body is not application/json",
  "422 A parameter is wrong",
  "422 Fields are wrong, or the page holds nothing to extract",
  "429 More requests or unread answers at once than the server takes",
  "500 A fault inside the server, or its disk",
  "502 The target could not be reached or answered with an error; `target_status` has its status",
  "503 The server is ending",
  "504 The target or the extraction took too long",
]);

const isUsual = (status: string, { description, content = {} }: Content & { description: string }): boolean =>
  EVERYWHERE.has(`${status} ${description}`) ||
  (status === "200" && Object.keys(content).join() === "application/json");

type Field = {
  readonly name: string;
  readonly schema: Schema;
  readonly meaning: string;
  readonly isRequired: boolean;
};

/** The fields of a body, those of objects in it by their path. */
function fieldsOf(body: Schema, api: OpenApi, prefix = ""): readonly Field[] {
  const { properties = {}, required = [] } = resolved(body, api);
  return Object.entries(properties).flatMap(([key, written]) => {
    const schema = resolved(written, api);
    const name = prefix + key;
    const field = {
      name,
      schema,
      meaning: written.description ?? schema.description ?? "",
      isRequired: prefix === "" && required.includes(key),
    };
    return [field, ...(schema.properties ? fieldsOf(schema, api, `${name}.`) : [])];
  });
}

/** A schema without its references, and without the null that every field of a request may have. */
function resolved(schema: Schema, api: OpenApi): Schema {
  const name = schema.$ref?.split("/").at(-1);
  const target = name === undefined ? schema : { ...api.components.schemas[name], ...withoutRef(schema) };
  const [only, ...others] = (target.anyOf ?? target.allOf ?? []).filter(({ type }) => type !== "null");
  if (!only || others.length > 0) return target;
  const { anyOf: _, allOf: __, ...own } = target;
  return { ...resolved(only, api), ...own };
}

const withoutRef = ({ $ref: _, ...rest }: Schema): Schema => rest;

/** More values than these are named where they are explained, not here. */
const MOST_VALUES = 8;

function typeOf(schema: Schema, api: OpenApi): string {
  if (schema.enum && schema.enum.length > MOST_VALUES) return "name";
  if (schema.enum)
    return schema.enum
      .filter((one) => one !== null)
      .map((one) => `\`${one}\``)
      .join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  if (types.includes("array") && schema.items) return `list of ${typeOf(resolved(schema.items, api), api)}`;
  if (types.length > 0) return types.join(" or ");
  return (schema.anyOf ?? [])
    .filter(({ type }) => type !== "null")
    .map((one) => typeOf(resolved(one, api), api))
    .join(" or ");
}

/** The default in parentheses, unless it is the usual one, which the page names: null, false or an empty list. */
const defaultOf = ({ default: preset }: Schema): string =>
  preset === undefined || ["null", "false", "[]"].includes(JSON.stringify(preset))
    ? ""
    : ` (${JSON.stringify(preset)})`;

const typeNames = ({ content = {} }: Content): string => {
  const names = Object.keys(content).filter((type) => type !== "application/problem+json");
  return names.length === 0 ? "" : ` (${names.map((name) => name.replace(/;.*/, "")).join(", ")})`;
};

const lowerFirst = (text: string): string =>
  /^(?:A |[A-Z][a-z])/.test(text) ? text.slice(0, 1).toLowerCase() + text.slice(1).replace(/\.$/, "") : text;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}
