import { didYouMean } from "../base/nearest.ts";
import { COMMAND_NAMES, COMMANDS, type Command, EXTRACT_COMMAND, requireCommand } from "./commands.ts";
import type { Flag } from "./flags/flag.ts";
import { wrongUsage } from "./io.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

/** Formats the completion script of a shell; throws `Failure` `invalid_usage` for an unknown shell. */
export function formatCompletions(shell: string): string {
  if (shell === "bash") return bash();
  if (shell === "zsh") return zsh();
  if (shell === "fish") return fish();
  throw wrongUsage(
    `completions exist for ${SHELLS.join(", ")}, not ${JSON.stringify(shell)}${didYouMean(shell, SHELLS)}`,
  );
}

const spellings = (flag: Flag): string[] => [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])];
const namedCommands = COMMANDS.filter((command) => command !== EXTRACT_COMMAND);

/** Every option once, because an option means the same in all commands that take it. */
const allOffered: readonly Flag[] = [
  ...new Map(COMMANDS.flatMap(({ flags }) => flags).map((flag) => [flag.name, flag])).values(),
];

/** Prints the codenames of the tenants for the scripts; nothing without a deployment file. */
const TENANTS = "article-extractor completions tenants 2> /dev/null";
/** Commands whose first argument is a tenant, and below, commands that take any number of tenants. */
const OF_ONE_TENANT = ["search", "fetch"];
const OF_TENANTS = ["index", "sync"];
/** What `index` takes in place of its first tenant; a file follows. */
const INDEX_ACTIONS = ["export", "import"];

/** The words that commands take as their first argument. */
const ACTIONS = ["serve", "keys", "tenants", "database"].map(
  (name) => [name, (requireCommand(name).actions ?? []).join(" ")] as const,
);

const valued = allOffered.filter((flag) => flag.placeholder !== undefined);
const repeatable = allOffered.filter((flag) => flag.isRepeatable);

const BASH_HELPERS = `# bash completion for article-extractor
_article_extractor_files() {
  local IFS=$'\\n'
  compopt -o filenames 2> /dev/null
  COMPREPLY=($(compgen -f -- "$1"))
}
# The words of $1 that were not typed yet or may be repeated.
_article_extractor_new() {
  local candidate
  for candidate in $1; do
    case $given in *" $candidate "*) continue ;; esac
    echo "$candidate"
  done
}
_article_extractor_tenants() {
  [ -n "$config" ] && local -x DEPLOYMENT_CONFIG=$config
  COMPREPLY=($(compgen -W "$(_article_extractor_new "\${1-} $(${TENANTS})")" -- "$word"))
}
`;

function bash(): string {
  const valueCases = valued.map((flag) => `    ${spellings(flag).join("|")}) ${bashValues(flag)}; return ;;`);
  const lettered = allOffered.filter((flag) => flag.short);
  const optionsOf = (command: Command): string => command.flags.flatMap(spellings).join(" ");
  const optionCases = namedCommands.map(
    (command) => `    ${command.name}) options="${optionsOf(command)}" ;;`,
  );
  const actionCases = ACTIONS.map(
    ([name, words]) =>
      `    ${name}) [ "$COMP_CWORD" -eq 2 ] && COMPREPLY=($(compgen -W "${words}" -- "$word")); return ;;`,
  );
  return `${BASH_HELPERS}_article_extractor() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} options
  local at one count=0 given=" " config=
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    one=\${COMP_WORDS[at]}
    case $one in
      ${repeatable.map((flag) => spellings(flag).join("|")).join("|")}) ;;
${lettered.map((flag) => `      ${spellings(flag).join("|")}) given+="${spellings(flag).join(" ")} " ;;`).join("\n")}
      *) given+="$one " ;;
    esac
    case $one in
      ${valued.flatMap(spellings).join("|")})
        [ "\${COMP_WORDS[at+1]}" = "=" ] && at=$((at + 1))
        at=$((at + 1))
        [ "$one" = --config ] && config=\${COMP_WORDS[at]} ;;
      -*) ;;
      *) count=$((count + 1)) ;;
    esac
  done
  # Readline takes "=" for a word of its own.
  [ "$word" = "=" ] && word=
  [ "$previous" = "=" ] && previous=\${COMP_WORDS[COMP_CWORD-2]}
  case $previous in
${valueCases.join("\n")}
    help) COMPREPLY=($(compgen -W "${COMMAND_NAMES.join(" ")}" -- "$word")); return ;;
    completions) COMPREPLY=($(compgen -W "${SHELLS.join(" ")}" -- "$word")); return ;;
${actionCases.join("\n")}
    ${INDEX_ACTIONS.join("|")}) [ "\${COMP_WORDS[1]}" = index ] && _article_extractor_files "$word"; return ;;
  esac
  case \${COMP_WORDS[1]} in
${optionCases.join("\n")}
    *) options="${optionsOf(EXTRACT_COMMAND)}" ;;
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$(_article_extractor_new "$options")" -- "$word")) ;;
    *) case \${COMP_WORDS[1]} in
        ${OF_TENANTS.join("|")}) [ "$COMP_CWORD" -gt 1 ] && _article_extractor_tenants "$([ "\${COMP_WORDS[1]} $COMP_CWORD" = "index 2" ] && echo ${INDEX_ACTIONS.join(" ")})" && return ;;
        ${OF_ONE_TENANT.join("|")}) [ "$COMP_CWORD" -gt 1 ] && [ "$count" -eq 1 ] && _article_extractor_tenants && return ;;
      esac
      [ "$COMP_CWORD" -eq 1 ] && COMPREPLY=($(compgen -W "${COMMAND_NAMES.join(" ")}" -- "$word")) ;;
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
    command.flags.map((flag) => `        ${zshSpec(flag)} \\`).join("\n");
  const cases = namedCommands.map(
    (command) => `    ${command.name})
      _arguments -s \\
${specsOf(command)}
        '${zshArgument(command)}' ;;`,
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

function zshArgument({ name, actions }: Command): string {
  if (name === "completions") return `*:shell:(completions ${SHELLS.join(" ")})`;
  if (name === "help") return `*:command:(help ${COMMAND_NAMES.join(" ")})`;
  if (name === "index") return `*:tenant:(index ${INDEX_ACTIONS.join(" ")} $(${TENANTS}))`;
  if (OF_TENANTS.includes(name)) return `*:tenant:(${name} $(${TENANTS}))`;
  if (OF_ONE_TENANT.includes(name)) return `2:tenant:($(${TENANTS}))`;
  if (name === "serve") return `*:server:(serve ${actions?.join(" ")})`;
  return actions ? `*:action:(${actions.join(" ")})` : "*:argument:";
}

function zshSpec(flag: Flag): string {
  const value = flag.placeholder === undefined ? "" : `:${zshQuote(flag.placeholder)}:${zshValues(flag)}`;
  const others = flag.short ? `(${spellings(flag).join(" ")})` : "";
  const star = flag.isRepeatable ? "*" : others;
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
  const argumentLines = [
    ["completions", SHELLS.join(" ")],
    ...ACTIONS,
    ["help", COMMAND_NAMES.join(" ")],
    ["index", INDEX_ACTIONS.join(" ")],
    [[...OF_TENANTS, ...OF_ONE_TENANT].join(" "), `(${TENANTS})`],
  ].map(
    ([commands, words]) =>
      `complete -c article-extractor -n '__fish_seen_subcommand_from ${commands}' -a '${words}'`,
  );
  return `# fish completion for article-extractor
complete -c article-extractor -f
${[...commandLines, ...flagLines, ...argumentLines].join("\n")}
`;
}

/** When fish offers an option: always, after its commands, or when none is named (which means extract). */
function fishCondition({ name, short, isRepeatable }: Flag): string {
  const takes = (command: Command): boolean => command.flags.some((flag) => flag.name === name);
  const isNew = `not __fish_contains_opt ${short ? `-s ${short} ` : ""}${name}`;
  const again = isRepeatable ? [] : [isNew];
  const condition = (parts: readonly string[]): string =>
    parts.length === 0 ? "" : ` -n '${parts.join("; and ")}'`;
  if (COMMANDS.every(takes)) return condition(again);
  const [takers, others] = [namedCommands.filter(takes), namedCommands.filter((command) => !takes(command))];
  const seen = (commands: readonly Command[]): string =>
    `__fish_seen_subcommand_from ${commands.map((command) => command.name).join(" ")}`;
  return condition([takes(EXTRACT_COMMAND) ? `not ${seen(others)}` : seen(takers), ...again]);
}

function fishValues({ choices, isPath }: Flag): string {
  if (choices) return ` -x -a '${choices.join(" ")}'`;
  return isPath ? " -r -F" : " -x";
}

const fishQuote = (text: string): string => `'${text.replace(/['\\]/g, "\\$&")}'`;
