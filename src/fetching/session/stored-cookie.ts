/** A cookie in the form of Playwright's storage state. */
export type StoredCookie = {
  readonly name: string;
  readonly value: string;
  /** With a leading dot it counts for the hosts below, too. */
  readonly domain: string;
  readonly path: string;
  /** Seconds since 1970; -1 lasts as long as the session. */
  readonly expires: number;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly sameSite: "Strict" | "Lax" | "None";
  /** The site in whose pages alone it counts (CHIPS). */
  readonly partitionKey?: string;
};

/** What became of one cookie. */
export type CookieChange = {
  /** As `cookieKey` makes it. */
  readonly key: string;
  /** Null when it was removed or has expired. */
  readonly cookie: StoredCookie | null;
};

/** Two cookies with the same key are the same cookie (RFC 6265, 5.3), partitions apart (CHIPS). */
export const cookieKey = (cookie: StoredCookie): string =>
  JSON.stringify([cookie.name, cookie.domain.toLowerCase(), cookie.path, cookie.partitionKey ?? null]);

export const isExpired = ({ expires }: StoredCookie, nowMs: number): boolean =>
  expires >= 0 && expires * 1000 <= nowMs;

/** Whether two cookies say the same. */
export const isSameCookie = (a: StoredCookie, b: StoredCookie): boolean =>
  a.value === b.value &&
  // Browsers keep whole microseconds.
  Math.abs(a.expires - b.expires) < 0.001 &&
  a.httpOnly === b.httpOnly &&
  a.secure === b.secure &&
  a.sameSite === b.sameSite;
