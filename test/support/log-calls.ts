import { join } from "node:path";

/** A call of the log as the source writes it. */
export type LogCall = {
  readonly path: string;
  readonly level: string;
  /** Its text; what is put in is an ellipsis. */
  readonly message: string;
  /** The fields that are named in the call itself. */
  readonly fields: readonly string[];
  /** Whether further fields come from elsewhere. */
  readonly hasMore: boolean;
};

/** A row of docs/logs.md. */
export type LogRow = { readonly message: string; readonly level: string; readonly fields: readonly string[] };

const ROOT = join(import.meta.dir, "../..");
const SRC = join(ROOT, "src");
const CALL = /(?:\b|#)log\??\.(debug|info|warning|error|critical|always)\(/gi;

/** The rows of docs/logs.md, and the fields that any line may have. */
export async function documentedLog(): Promise<{
  readonly rows: readonly LogRow[];
  readonly common: readonly string[];
}> {
  const text = await Bun.file(join(ROOT, "docs/logs.md")).text();
  const rows = [...text.matchAll(/^\| `([^`]+)` \| (\w+) \| (.*) \| .*\|$/gm)].map(
    ([, message = "", level = "", cell = ""]) => ({
      message,
      level,
      // What stands in brackets are values.
      fields: wordsIn(cell.replace(/\([^)]*\)/g, "").replace(/: .*?(?=, `|$)/g, "")),
    }),
  );
  const anyLine = /\| Any line may have \|[\s\S]*?\n\n/.exec(text)?.[0] ?? "";
  const common = anyLine.split("\n").flatMap((line) => wordsIn(line.split("|")[1] ?? ""));
  return { rows, common };
}

const wordsIn = (text: string): string[] => [...text.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);

/** Every call of a log below `src`, but for those that only pass on what they are given. */
export async function logCalls(): Promise<LogCall[]> {
  const calls: LogCall[] = [];
  for (const path of new Bun.Glob("**/*.ts").scanSync(SRC)) {
    if (path.startsWith("server/web/page/") || path === "base/log.ts") continue;
    const text = await Bun.file(join(SRC, path)).text();
    for (const match of text.matchAll(CALL)) {
      const words = argumentsAt(text, match.index + match[0].length);
      const isAlways = match[1] === "always";
      const level = isAlways ? unquoted(words[0] ?? "") : (match[1] ?? "");
      const [message = "", fields = "{}"] = words.slice(isAlways ? 1 : 0);
      for (const one of literalsOf(message)) calls.push({ path, level, message: one, ...fieldsOf(fields) });
    }
  }
  return calls;
}

/** The arguments of a call that begin here, as written. */
function argumentsAt(text: string, start: number): string[] {
  const words: string[] = [];
  let depth = 0;
  let from = start;
  for (let at = start; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (`"'\``.includes(sign)) at = endOfString(text, at);
    else if ("([{".includes(sign)) depth++;
    else if (")]}".includes(sign) && depth-- === 0) return [...words, text.slice(from, at)];
    else if (sign === "," && depth === 0) {
      words.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return words;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== text[start]) at += text[at] === "\\" ? 2 : 1;
  return at;
}

/** The texts that a message may be: one literal, or those of a condition; none where it is only passed on. */
const literalsOf = (message: string): string[] =>
  [...message.replace(/===\s*"[^"]*"/g, "").matchAll(/"([^"]*)"|`([^`]*)`/g)].map(([, plain, template]) =>
    (plain ?? template ?? "").replace(/\$\{[^}]*\}/g, "…"),
  );

const unquoted = (text: string): string => text.trim().replace(/^"|"$/g, "");

function fieldsOf(written: string): Pick<LogCall, "fields" | "hasMore"> {
  const inner = /^\s*\{([\s\S]*)\}\s*$/.exec(written)?.[1];
  if (inner === undefined) return { fields: [], hasMore: written.trim() !== "" };
  const parts = argumentsAt(`${inner})`, 0)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const fields = parts.filter((part) => !part.startsWith("...")).map((part) => /^\w+/.exec(part)?.[0] ?? "");
  return { fields, hasMore: parts.some((part) => part.startsWith("...")) };
}
