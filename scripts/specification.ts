/**
 * Checks the tests of the specification: each statement has one test or is an exception, and files change only together
 * with a line in docs/decisions.md. See test/contract/specification/README.md.
 *
 *   sh scripts/bun scripts/specification.ts [--write] [--documents DIR]
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

const ROOT = join(import.meta.dir, "..");
const FOLDER = join(ROOT, "test/contract/specification");
const HASHES = "hashes.json";
const DOCUMENTS = { extraction: "extraction-and-crawl.md", search: "documentation-search.md" };

type Inventory = Readonly<Record<string, readonly string[]>>;
type Exception = { readonly document: string; readonly section: string; readonly words: string };
/** The files of the folder by name. */
export type Files = ReadonlyMap<string, string>;

const parsed = <T>(files: Files, name: string, absent: T): T =>
  JSON.parse(files.get(name) ?? "null") ?? absent;

/** The hash of a file as `hashes.json` and docs/decisions.md name it. */
export const hashOf = (text: string): string =>
  new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);

// A statement leaves the inventory, or becomes an exception, only together with its test.
const isHashed = (name: string): boolean => name.endsWith(".ts");

/** The files whose change nobody has given a reason for, one line each. @param decisions the text of docs/decisions.md */
export function unexplainedChanges(files: Files, decisions: string): string[] {
  const landed = parsed<Record<string, string>>(files, HASHES, {});
  const isExplained = (line: string): boolean => decisions.includes(`Specification test ${line} — `);
  const gone = Object.keys(landed)
    .filter((name) => !files.has(name) && !isExplained(`removed: ${name}`))
    .map((name) => `${name} is gone: docs/decisions.md needs "Specification test removed: ${name} — why"`);
  const changed = [...files]
    .filter(([name]) => isHashed(name))
    .flatMap(([name, text]) => {
      const hash = hashOf(text);
      if (landed[name] === undefined)
        return `${name} has no hash: run sh scripts/bun scripts/specification.ts --write`;
      if (landed[name] === hash || isExplained(`changed: ${name} ${hash}`)) return [];
      return `${name} changed: docs/decisions.md needs "Specification test changed: ${name} ${hash} — why"`;
    });
  return [...gone, ...changed];
}

/** The statements that are not held exactly once, one line each. */
export function unheldStatements(files: Files): string[] {
  const exceptions = parsed<readonly Exception[]>(files, "exceptions.json", []);
  return Object.keys(DOCUMENTS).flatMap((document) => {
    const tests = [...files]
      .filter(([name]) => name.startsWith(`${document}-`))
      .map(([, text]) => text)
      .join("\n");
    const inventory = parsed<Inventory>(files, `${document}.json`, {});
    const all = Object.entries(inventory).flatMap(([section, list]) =>
      list.map((words) => ({ section, words })),
    );
    const unknown = exceptions
      .filter((one) => one.document === document && !inventory[one.section]?.includes(one.words))
      .map(({ section, words }) => `${document}: no statement "${words}" in "${section}" for the exception`);
    const wrong = all.flatMap(({ section, words }) => {
      const isException = exceptions.some((one) => one.section === section && one.words === words);
      const isTested = declares(tests, words);
      if (isException !== isTested) return [];
      return `${document}: "${words}" in "${section}" has ${isTested ? "a test and an exception" : "no test"}`;
    });
    const twice = all
      .filter(
        ({ section, words }, i) => all.findIndex((one) => one.section === section && one.words === words) < i,
      )
      .map(({ section, words }) => `${document}: "${words}" stands twice in "${section}"`);
    return [...unknown, ...wrong, ...twice];
  });
}

/** Whether a test quotes these words as a string of their own. */
const declares = (tests: string, words: string): boolean =>
  [JSON.stringify(words), `'${words}'`, `\`${words}\``].some((quoted) => tests.includes(quoted));

/** What an inventory says that its document does not, one line each. Words are compared without Markdown's signs. */
export function unlikeDocument(inventory: Inventory, text: string): string[] {
  const plain = (part: string): string => part.replace(/[`|]/g, " ").replace(/\s+/g, " ").trim();
  const sections = new Map(
    [...`\n${text}`.matchAll(/\n#+ (.+)\n([\s\S]*?)(?=\n#+ |$)/g)].map(([, name = "", body = ""]) => [
      name,
      plain(body),
    ]),
  );
  const missing = [...sections]
    .filter(
      ([name, body]) => body !== "" && !Object.keys(inventory).some((section) => isWithin(section, name)),
    )
    .map(([name]) => `no statement of "${name}"`);
  const unlike = Object.entries(inventory).flatMap(([section, list]) => {
    const body = [...sections].find(([name]) => isWithin(section, name))?.[1];
    if (body === undefined) return `there is no "${section}"`;
    return list
      .filter((words) => !body.includes(plain(words)))
      .map((words) => `"${section}" has no "${words}"`);
  });
  return [...missing, ...unlike];
}

/** Whether a section is the heading, without what it says in brackets, or a numbered part of it: `Crawl rules 2(b)`. */
function isWithin(section: string, heading: string): boolean {
  const name = heading.replaceAll("`", "").replace(/ \(.*/, "");
  return section === name || (section.startsWith(name) && /^ \d/.test(section.slice(name.length)));
}

function readFiles(): Files {
  return new Map(readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), "utf8")]));
}

function addHashes(files: Files): void {
  const landed = parsed<Record<string, string>>(files, HASHES, {});
  const added = [...files]
    .filter(([name]) => isHashed(name))
    .map(([name, text]) => [name, landed[name] ?? hashOf(text)]);
  const gone = Object.entries(landed).filter(([name]) => !files.has(name));
  const sorted = Object.fromEntries([...added, ...gone].sort());
  writeFileSync(join(FOLDER, HASHES), `${JSON.stringify(sorted, null, 2)}\n`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { write: { type: "boolean" }, documents: { type: "string" } } });
  if (values.write) addHashes(readFiles());
  const files = readFiles();
  const problems = [
    ...unheldStatements(files),
    ...unexplainedChanges(files, readFileSync(join(ROOT, "docs/decisions.md"), "utf8")),
  ];
  if (values.documents !== undefined)
    for (const [document, name] of Object.entries(DOCUMENTS)) {
      const text = readFileSync(join(values.documents, name), "utf8");
      problems.push(
        ...unlikeDocument(parsed<Inventory>(files, `${document}.json`, {}), text).map(
          (line) => `${document}: ${line}`,
        ),
      );
    }
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
