/**
 * Keeps the README's tables equal to what the program declares: `sh scripts/bun scripts/readme.ts` rewrites
 * what stands between `<!-- NAME -->` and `<!-- /NAME -->`.
 */
import { join } from "node:path";
import { COMMANDS, FLAG_GROUPS, type Flag } from "../src/cli/flags.ts";
import { FAILURE_OUTCOMES } from "../src/failure.ts";
import { VARIABLES } from "../src/settings/index.ts";

const README = join(import.meta.dir, "../README.md");

/** The README with each table made anew. */
export function withTables(readme: string): string {
  const tables = { options: optionsTable(), settings: settingsTable(), failures: failuresTable() };
  return Object.entries(tables).reduce((text, [name, table]) => {
    const block = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!block.test(text)) throw new Error(`the README has no place for the table "${name}"`);
    return text.replace(block, (_, start, end) => `${start}\n${table}\n\n${end}`);
  }, readme);
}

function optionsTable(): string {
  const flags = (COMMANDS[0]?.flags ?? []).filter((flag) => flag.awaits === undefined);
  const rows = FLAG_GROUPS.flatMap((group) =>
    flags.filter((flag) => flag.group === group).map((flag) => [code(spelling(flag)), flag.help]),
  );
  return table(["Option", "Meaning"], rows);
}

const spelling = ({ name, short, placeholder }: Flag): string =>
  `${short ? `-${short}, ` : ""}--${name}${placeholder ? ` ${placeholder}` : ""}`;

function settingsTable(): string {
  const rows = Object.values(VARIABLES).map(({ variable, fallback, meaning }) => [
    code(variable),
    fallback === null ? "unset" : code(String(fallback)),
    meaning,
  ]);
  return table(["Variable", "Default", "Meaning"], rows);
}

function failuresTable(): string {
  const rows = Object.entries(FAILURE_OUTCOMES).map(([name, { exitCode, meaning }]) => [
    code(name),
    String(exitCode),
    meaning,
  ]);
  return table(["Code", "Exit code", "Meaning"], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

const code = (text: string): string => `\`${text}\``;
const escapeCell = (text: string): string => text.replaceAll("|", "\\|");

if (import.meta.main) await Bun.write(README, withTables(await Bun.file(README).text()));
