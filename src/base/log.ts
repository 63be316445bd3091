import { createConsola } from "consola/core";
import { withoutUrlSecrets } from "./url-secrets.ts";

/** Levels from the most to the least verbose, as `ARTICLE_EXTRACTOR_LOG_LEVEL` spells them. */
export const LOG_LEVELS = ["debug", "info", "warning", "error", "critical"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ["json", "text"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Extra fields of one line; the keys are in snake_case because other programs read them. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Writes what the program does. Users' data goes to stdout, never here. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  critical(message: string, fields?: LogFields): void;
  /** Writes the line whatever the level is, for output that has a setting of its own. */
  always(level: LogLevel, message: string, fields?: LogFields): void;
  /** The same log with these fields on every line; a function gives those of each line. */
  with(fields: LogFields | (() => LogFields)): Log;
}

type LogOptions = {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Takes one finished line with its newline; the product writes it to stderr. */
  readonly write: (line: string) => void;
  readonly now?: () => Date;
};

// consola numbers the levels from 5 downwards; levels that it lacks share a neighbour's number.
const CONSOLA_LEVEL: Record<LogLevel, number> = { critical: -1, error: 0, warning: 1, info: 3, debug: 4 };

/** A log whose lines are one JSON object or one line of text each. */
export function createLog(options: LogOptions): Log {
  const now = options.now ?? (() => new Date());
  const consola = createConsola({
    level: CONSOLA_LEVEL[options.level],
    throttle: 0, // the default folds repeated lines into one
    reporters: [
      {
        log: (entry) => {
          // `emit` below always passes these three arguments.
          const [level, message, fields] = entry.args as [LogLevel, string, LogFields];
          options.write(formatLine(options.format, now(), { level, message, fields }));
        },
      },
    ],
  });
  const emit: Emit = (level, message, fields, isAlways = false) => {
    const sink = { debug: consola.debug, info: consola.info, warning: consola.warn, error: consola.error };
    // "critical" is above every level that consola can filter, so it is always written.
    if (level === "critical" || isAlways)
      options.write(formatLine(options.format, now(), { level, message, fields }));
    else sink[level](level, message, fields);
  };
  return withFields(emit, () => ({}));
}

type Emit = (level: LogLevel, message: string, fields: LogFields, isAlways?: boolean) => void;

function withFields(emit: Emit, base: () => LogFields): Log {
  const all = (fields?: LogFields): LogFields => ({ ...base(), ...fields });
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void =>
      emit(level, message, all(fields));
  return {
    debug: at("debug"),
    info: at("info"),
    warning: at("warning"),
    error: at("error"),
    critical: at("critical"),
    always: (level, message, fields) => emit(level, message, all(fields), true),
    with: (more) => withFields(emit, () => all(typeof more === "function" ? more() : more)),
  };
}

function formatLine(
  format: LogFormat,
  time: Date,
  line: { level: LogLevel; message: string; fields: LogFields },
): string {
  const { level } = line;
  const message = withoutUrlSecrets(line.message);
  const fields = Object.fromEntries(
    Object.entries(line.fields).map(([name, value]) => [
      name,
      typeof value === "string" ? withoutUrlSecrets(value) : value,
    ]),
  );
  if (format === "json") {
    return `${quote({ timestamp: time.toISOString(), level, message, ...fields })}\n`;
  }
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${quoteWhereNeeded(String(value))}`);
  return `${time.toISOString()} ${level.toUpperCase()} ${oneLine(message)}${pairs.join("")}\n`;
}

// JSON does not escape DEL and the C1 controls, and terminals take U+009B for the start of a sequence.
const quote = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const quoteWhereNeeded = (value: string): string => (/^[\w.:/@%+,-]+$/.test(value) ? value : quote(value));

// A URL or header of a hostile page must not forge a second log line.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
