import { HOME_PAGE, VERSION } from "../base/version.ts";
import { VARIABLES } from "../settings/index.ts";
import { COMMANDS, type Command, EXTRACT_COMMAND } from "./commands.ts";
import { type Flag, GENERAL_FLAGS } from "./flags/flag.ts";
import { EXAMPLES, spelling, usageOf } from "./help.ts";
import { wrap } from "./terminal/notices.ts";

const PROGRAM = "article-extractor";

/** Formats one manual page for all commands, in the `man` macros that groff and mandoc read (man(7)). */
export function formatManual(): string {
  const lines = [
    `.TH ${PROGRAM.toUpperCase()} 1 "" "${PROGRAM} ${toRoff(VERSION)}" "User Commands"`,
    ".SH NAME",
    `${PROGRAM} \\- clean text out of web pages, sites and documentation`,
    ".SH SYNOPSIS",
    ...COMMANDS.flatMap((command, index) => [
      ...(index === 0 ? [] : [".br"]),
      bold(`${PROGRAM} ${usageOf(command)}`),
    ]),
    ".SH DESCRIPTION",
    ...DESCRIPTION.flatMap(paragraph),
    ".SH COMMANDS",
    ...COMMANDS.flatMap(commandSection),
    ".SH GENERAL OPTIONS",
    "Every command takes these.",
    ...GENERAL_FLAGS.flatMap(optionEntry),
    ".SH ENVIRONMENT",
    ...ENVIRONMENT.flatMap(paragraph),
    ...Object.values(VARIABLES).flatMap(({ variable, fallback, meaning }) =>
      entry(variable, fallback === null ? meaning : `${meaning} (default ${fallback})`),
    ),
    ".SH EXIT STATUS",
    ...EXIT_STATUS.flatMap(([status, meaning]) => entry(status, meaning)),
    ...(HOME_PAGE === null ? [] : [".SH SEE ALSO", toRoff(HOME_PAGE)]),
  ];
  return `${lines.join("\n")}\n`;
}

const DESCRIPTION = [
  "Extracts the main content of web pages as JSON, Markdown or text, crawls whole sites, and serves both over HTTP; indexes documentation and serves searches of it over MCP.",
  "Options stand before or behind the arguments; behind -- every word is an argument.",
];

const ENVIRONMENT = [
  "An option wins over a variable of the environment, which wins over one of the .env file beside the program or of --env-file.",
];

const EXIT_STATUS = [
  ["0", "The work is done."],
  ["1", "The work failed, or a part of it did."],
  ["2", "The usage or a setting is wrong, and nothing was done."],
  ["3", "A crawl went through, with more failed pages than --max-failures allows."],
  ["130", "The work was interrupted."],
] as const;

function commandSection(command: Command): string[] {
  const own = command.flags.filter((flag) => !GENERAL_FLAGS.includes(flag));
  const isImplied = command === EXTRACT_COMMAND;
  return [
    `.SS ${command.name}`,
    bold(`${PROGRAM} ${isImplied ? `[extract] ${command.usage}` : usageOf(command)}`),
    ".PP",
    ...paragraph(`${command.help}.`),
    ...own.flatMap(optionEntry),
    ...EXAMPLES[command.name].flatMap(([typed, meaning]) => [
      ".PP",
      ...(meaning === "" ? [] : [...paragraph(`${capitalise(meaning)}:`), ".br"]),
      bold(typed),
    ]),
  ];
}

const optionEntry = (flag: Flag): string[] => entry(spelling(flag).trim(), flag.help);

const entry = (term: string, meaning: string): string[] => [".TP", bold(term), ...paragraph(meaning)];

/** Formats a paragraph; its line breaks have no meaning, because the formatter fills lines again. */
const paragraph = (text: string): string[] => wrap(text, 80, (word) => toRoff(word).length).map(toRoff);

const bold = (text: string): string => `\\fB${toRoff(text)}\\fR`;

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\(rs",
  "-": "\\-", // a hyphen else, which nobody can paste into a shell
  "'": "\\(aq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
  '"': "\\(dq",
};

/** Escapes text so that roff shows it unchanged (groff_char(7)). */
function toRoff(text: string): string {
  const escaped = text
    .replace(/[\\\-'`^~"]/g, (letter) => ESCAPES[letter] ?? letter)
    .replace(
      /[^\x20-\x7e]/gu,
      (letter) => `\\[u${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`,
    );
  return escaped.replace(/^\./, "\\&.");
}
