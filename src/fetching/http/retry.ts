/**
 * Whether a later try may get another status: request timeout, too early, too many requests, server errors.
 */
export const isRetryableStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);

const MAX_BACK_OFF_MS = 60_000;

/**
 * Exponential back-off with full jitter: evenly distributed over 0 to 1, 2, 4, 8 … s, at most 60 s.
 * @param failedTries tries so far, from 1
 * @param random in [0, 1)
 */
export const backOffDelayMs = (failedTries: number, random: () => number): number =>
  Math.floor(random() * Math.min(MAX_BACK_OFF_MS, 1000 * 2 ** (failedTries - 1)));

/**
 * The wait that `Retry-After` asks for, in ms: a number of seconds or an HTTP date (RFC 9110, 10.2.3).
 * @returns null when the header is absent or neither; 0 for a date in the past
 */
export function parseRetryAfterMs(value: string | null | undefined, nowMs: number): number | null {
  const text = value?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // HTTP dates begin with the name of a day; Date.parse alone would accept "-5" and "2.5" as dates.
  if (!/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(text)) return null;
  const at = Date.parse(/gmt|utc/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
