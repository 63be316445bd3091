/** A cookie in the form of Playwright's storage state. */
export type StoredCookie = {
  readonly name: string;
  readonly value: string;
  /** With a leading dot the cookie is also sent to the hosts below. */
  readonly domain: string;
  readonly path: string;
  /** Seconds since 1970; -1 means until the session ends. */
  readonly expires: number;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly sameSite: "Strict" | "Lax" | "None";
  /** The site in whose pages alone the cookie is sent (CHIPS). */
  readonly partitionKey?: string;
};

/** A change of one cookie. */
export type CookieChange = {
  /** The key that `cookieKey` computes. */
  readonly key: string;
  /** The new cookie; null when it was removed or has expired. */
  readonly cookie: StoredCookie | null;
};

/** Two cookies with the same key are the same cookie (RFC 6265, 5.3); partitions keep them apart (CHIPS). */
export const cookieKey = (cookie: StoredCookie): string =>
  JSON.stringify([cookie.name, cookie.domain.toLowerCase(), cookie.path, cookie.partitionKey ?? null]);

export const isExpired = ({ expires }: StoredCookie, nowMs: number): boolean =>
  expires >= 0 && expires * 1000 <= nowMs;

/** Whether two cookies have the same contents. */
export const isSameCookie = (a: StoredCookie, b: StoredCookie): boolean =>
  a.value === b.value &&
  // Browsers store whole microseconds.
  Math.abs(a.expires - b.expires) < 0.001 &&
  a.httpOnly === b.httpOnly &&
  a.secure === b.secure &&
  a.sameSite === b.sameSite;
