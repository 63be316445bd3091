const NUMBER = new Intl.NumberFormat("en");
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export const formatNumber = (value: number): string => NUMBER.format(value);

/** Formats a count: `1 page`, `2 pages`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

/** Formats a size: `840 B`, `12 kB`, `3.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** power;
  return `${NUMBER.format(value < 10 && power > 0 ? Math.round(value * 10) / 10 : Math.round(value))} ${units[power]}`;
}

/** Formats a duration: `840 ms`, `3.2 s`, `12 min`. */
export function formatDuration(ms: number): string {
  if (ms < 10) return `${Math.round(ms * 10) / 10} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 360_000) / 10} h`;
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** Formats a time relative to now: `3 minutes ago`, `in 2 hours`; null for an invalid time. */
export function formatAgo(iso: string | null | undefined, now = Date.now()): string | null {
  const time = Date.parse(iso ?? "");
  if (Number.isNaN(time)) return null;
  const difference = time - now;
  const [unit, size] = UNITS.find(([, ms]) => Math.abs(difference) >= ms) ?? ["second", 1000];
  return RELATIVE.format(Math.round(difference / size), unit);
}

/** Formats date and time in the reader's time zone; null for an invalid time. */
export function formatTime(iso: string | null | undefined): string | null {
  const time = Date.parse(iso ?? "");
  if (Number.isNaN(time)) return null;
  return new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/**
 * Estimates the tokens of a text for a language model: one for four characters, and four for five characters of
 * Chinese, Japanese and Korean. Rounded to two digits, because vocabularies differ by more.
 */
export function estimateTokens(text: string): number {
  const dense = text.match(DENSE)?.length ?? 0;
  return Number(((text.length - dense) / 4 + dense * 0.8).toPrecision(2));
}
