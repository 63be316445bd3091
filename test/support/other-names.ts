import { OTHER_OPTIONS } from "../../src/base/other-names.ts";
import { COMMANDS, type Command } from "../../src/cli/commands.ts";

/** An option of another program after a command, and what the table answers. */
export type OtherOption = { readonly command: Command; readonly typed: string; readonly answer: string };

const { every = {}, ...own } = OTHER_OPTIONS;

/** Whether a command takes an answer's option: `--size N`, `-o FILE`, `--output json`. */
export function hasOption({ flags }: Command, answer: string): boolean {
  const [option = "", ...rest] = answer.split(" ");
  const flag = flags.find(({ name, short }) => option === `--${name}` || option === `-${short}`);
  const value = rest.join(" ");
  return (
    flag !== undefined && (value === (flag.placeholder ?? "") || (flag.choices?.includes(value) ?? false))
  );
}

/** All of the table, for each command that it holds for; of a name that stands in several lines the first counts. */
export const OTHER_NAMES: readonly OtherOption[] = COMMANDS.flatMap((command) => {
  const rows = [
    ...Object.entries(own[command.name] ?? {}),
    ...Object.entries(every).filter(([answer]) => hasOption(command, answer)),
  ];
  const answers = new Map<string, string>();
  for (const [answer, names] of rows)
    for (const name of names.split(" ")) if (!answers.has(name)) answers.set(name, answer);
  return [...answers].map(([name, answer]) => ({
    command,
    typed: name.length === 1 ? `-${name}` : `--${name}`,
    answer,
  }));
});

/** What the program says to one. */
export const saidTo = ({ typed, answer }: OtherOption): string =>
  `unknown option ${typed}; ${answer.startsWith("-") ? `did you mean ${answer}?` : answer}`;

/** The words with which it is typed; only `serve` needs another to be told what it does. */
export const wordsOf = ({ command, typed }: OtherOption): readonly string[] => [command.name, typed, "3"];
