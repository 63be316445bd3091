import { quoteForShell as quote } from "../../../../base/text.ts";
import type { ExtractionBody } from "./api.ts";

/** A request to the server, as a program sends it. */
type WrittenRequest = {
  /** The address of the server, with its base path and a slash at the end. */
  readonly server: string;
  readonly body: ExtractionBody;
  /** Whether the server asks for a key. It is taken from the environment, so that no code contains it. */
  readonly hasKey: boolean;
};

const KEY_VARIABLE = "ARTICLE_EXTRACTOR_API_KEY";

/** The forms in which the page writes a request; each can be run as it stands. */
export const CODE_FORMS = [
  { id: "curl", label: "curl", write: writeCurl },
  { id: "python", label: "Python", write: writePython },
] as const;

function writeCurl({ server, body, hasKey }: WrittenRequest): string {
  return [
    `curl --fail-with-body ${quote(server)}`,
    "  -H 'content-type: application/json'",
    ...(hasKey ? [`  -H "authorization: Bearer $${KEY_VARIABLE}"`] : []),
    `  -d ${quote(JSON.stringify(body))}`,
  ].join(" \\\n");
}

function writePython({ server, body, hasKey }: WrittenRequest): string {
  const key = hasKey ? `\n        "authorization": f"Bearer {os.environ['${KEY_VARIABLE}']}",` : "";
  return `import json
${hasKey ? "import os\n" : ""}import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(server)},
    data=json.dumps(${indented(pythonValue(body), "    ")}).encode(),
    headers={
        "content-type": "application/json",${key}
    },
)
with urllib.request.urlopen(request) as response:
    article = json.load(response)
print(article["markdown"])`;
}

/** Writes a JSON value as a literal of Python, whose texts have the same escapes. */
export function pythonValue(value: unknown, indent = ""): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const parts = Array.isArray(value)
    ? value.map((part) => inner + pythonValue(part, inner))
    : Object.entries(value).map(
        ([name, part]) => `${inner}${JSON.stringify(name)}: ${pythonValue(part, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(",\n")},\n${indent}${close}`;
}

const indented = (text: string, indent: string): string => text.replaceAll("\n", `\n${indent}`);
