import type { Layer } from "./exchange.ts";

// What an answer may load when a browser shows it. Pages with scripts set their own policy.
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

/** Headers that keep a browser from guessing types, framing answers and telling other sites of them. */
export const secureHeaders: Layer = (next) => async (exchange) => {
  const response = await next(exchange);
  const { headers } = response;
  headers.set("x-content-type-options", "nosniff");
  headers.set("referrer-policy", "no-referrer");
  if (!headers.has("content-security-policy")) headers.set("content-security-policy", NOTHING);
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  return response;
};
