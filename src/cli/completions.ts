import { Failure } from "../failure.ts";
import { didYouMean } from "../nearest.ts";
import { COMMANDS, type Command, EXTRACT_COMMAND, SERVERS } from "./commands.ts";
import type { Flag } from "./flag.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

/** The completion script of a shell; throws `Failure` `invalid_usage` for another one. */
export function formatCompletions(shell: string): string {
  if (shell === "bash") return bash();
  if (shell === "zsh") return zsh();
  if (shell === "fish") return fish();
  throw new Failure(
    "invalid_usage",
    `completions are made for ${SHELLS.join(", ")}, not ${JSON.stringify(shell)}${didYouMean(shell, SHELLS)}`,
  );
}

const offered = ({ flags }: Command): readonly Flag[] => flags;
const spellings = (flag: Flag): string[] => [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])];
const commandNames = COMMANDS.map(({ name }) => name);
const namedCommands = COMMANDS.filter((command) => command !== EXTRACT_COMMAND);

/** Every option once; an option means the same in all commands that take it. */
const allOffered: readonly Flag[] = [
  ...new Map(COMMANDS.flatMap(offered).map((flag) => [flag.name, flag])).values(),
];

function bash(): string {
  const valueCases = allOffered
    .filter((flag) => flag.placeholder !== undefined)
    .map((flag) => `    ${spellings(flag).join("|")}) ${bashValues(flag)}; return ;;`);
  const optionsOf = (command: Command): string => offered(command).flatMap(spellings).join(" ");
  const optionCases = namedCommands.map(
    (command) => `    ${command.name}) options="${optionsOf(command)}" ;;`,
  );
  return `# bash completion for article-extractor
_article_extractor_files() {
  local IFS=$'\\n'
  compopt -o filenames 2> /dev/null
  COMPREPLY=($(compgen -f -- "$1"))
}
_article_extractor() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} options
  COMPREPLY=()
  # Readline takes "=" for a word of its own.
  [ "$word" = "=" ] && word=
  [ "$previous" = "=" ] && previous=\${COMP_WORDS[COMP_CWORD-2]}
  case $previous in
${valueCases.join("\n")}
    completions) COMPREPLY=($(compgen -W "${SHELLS.join(" ")}" -- "$word")); return ;;
    serve) [ "$COMP_CWORD" -eq 2 ] && COMPREPLY=($(compgen -W "${SERVERS.join(" ")}" -- "$word")); return ;;
  esac
  case \${COMP_WORDS[1]} in
${optionCases.join("\n")}
    *) options="${optionsOf(EXTRACT_COMMAND)}" ;;
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) [ "$COMP_CWORD" -eq 1 ] && COMPREPLY=($(compgen -W "${commandNames.join(" ")}" -- "$word")) ;;
  esac
}
complete -F _article_extractor article-extractor
`;
}

function bashValues({ choices, isPath }: Flag): string {
  if (choices) return `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$word"))`;
  return isPath ? '_article_extractor_files "$word"' : ":";
}

function zsh(): string {
  const specsOf = (command: Command): string =>
    offered(command)
      .map((flag) => `        ${zshSpec(flag)} \\`)
      .join("\n");
  const cases = namedCommands.map(
    (command) => `    ${command.name})
      _arguments -s \\
${specsOf(command)}
        '*:${zshArgument(command)}' ;;`,
  );
  const commands = COMMANDS.map(({ name, help }) => `${name}\\:${zshQuote(help)}`);
  return `#compdef article-extractor
_article_extractor() {
  case $words[2] in
${cases.join("\n")}
    *)
      _arguments -s \\
${specsOf(EXTRACT_COMMAND)}
        '1:command or URL:((${commands.map((command) => command.replaceAll(" ", "\\ ")).join(" ")}))' ;;
  esac
}
compdef _article_extractor article-extractor
`;
}

function zshArgument({ name }: Command): string {
  if (name === "completions") return `shell:(completions ${SHELLS.join(" ")})`;
  return name === "serve" ? `server:(serve ${SERVERS.join(" ")})` : "argument:";
}

function zshSpec(flag: Flag): string {
  const value = flag.placeholder === undefined ? "" : `:${zshQuote(flag.placeholder)}:${zshValues(flag)}`;
  const star = flag.isRepeatable ? "*" : "";
  return spellings(flag)
    .map((spelling) => `'${star}${spelling}[${zshQuote(flag.help)}]${value}'`)
    .join(" ");
}

const zshValues = ({ choices, isPath }: Flag): string =>
  choices ? `(${choices.join(" ")})` : isPath ? "_files" : "";

const zshQuote = (text: string): string => text.replace(/[[\]:\\()]/g, "\\$&").replaceAll("'", "'\\''");

function fish(): string {
  const commandLines = COMMANDS.map(
    ({ name, help }) =>
      `complete -c article-extractor -n __fish_use_subcommand -a ${name} -d ${fishQuote(help)}`,
  );
  const flagLines = allOffered.map((flag) => {
    const short = flag.short ? ` -s ${flag.short}` : "";
    const value = flag.placeholder === undefined ? "" : fishValues(flag);
    return `complete -c article-extractor${fishCondition(flag)} -l ${flag.name}${short}${value} -d ${fishQuote(flag.help)}`;
  });
  const shells = `complete -c article-extractor -n '__fish_seen_subcommand_from completions' -a '${SHELLS.join(" ")}'`;
  const servers = `complete -c article-extractor -n '__fish_seen_subcommand_from serve' -a '${SERVERS.join(" ")}'`;
  return `# fish completion for article-extractor
complete -c article-extractor -f
${[...commandLines, ...flagLines, shells, servers].join("\n")}
`;
}

/** Where the option is offered: everywhere, after its commands, or where none is named (which is extract). */
function fishCondition({ name }: Flag): string {
  const takes = (command: Command): boolean => offered(command).some((flag) => flag.name === name);
  if (COMMANDS.every(takes)) return "";
  const [takers, others] = [namedCommands.filter(takes), namedCommands.filter((command) => !takes(command))];
  const seen = (commands: readonly Command[]): string =>
    `__fish_seen_subcommand_from ${commands.map((command) => command.name).join(" ")}`;
  return ` -n '${takes(EXTRACT_COMMAND) ? `not ${seen(others)}` : seen(takers)}'`;
}

function fishValues({ choices, isPath }: Flag): string {
  if (choices) return ` -x -a '${choices.join(" ")}'`;
  return isPath ? " -r -F" : " -x";
}

const fishQuote = (text: string): string => `'${text.replace(/['\\]/g, "\\$&")}'`;
