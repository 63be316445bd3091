import { setTimeout } from "node:timers/promises";
import { createLocalJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { isRecord } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { Keys } from "./access.ts";
import type { Grant } from "./exchange.ts";
import { ProblemError } from "./problem.ts";

/** Whose tokens a server takes (RFC 6750), and for what they must have been issued. */
type TokenSettings = {
  /** As tokens name it in `iss`. */
  readonly issuer: string;
  /** The required `aud` of tokens: the server's URL as clients see it. */
  readonly audience: string;
  /** URL of the issuer's keys; null asks the issuer for it. */
  readonly jwksUrl: string | null;
  /** The claim with the codenames of the tenants that a token is for; null gives every token all of them. */
  readonly tenantsClaim: string | null;
};

type TokenParts = {
  /** Reads a small text from the issuer. @throws Failure */
  readonly read: (url: string) => Promise<string>;
  readonly now: () => number;
  readonly log: Log;
};

/**
 * Signatures with a public key only (RFC 7518, section 3.1; RFC 8037; RFC 9864): with a shared secret, who can check a
 * token could also make one. The list is the server's, so that no issuer's set of keys decides what counts.
 */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** How far the clocks of the issuer and of this machine may differ, in seconds. */
const CLOCK_TOLERANCE_S = 30;

/** Longer tokens are not looked at, in characters. */
const MAX_TOKEN = 16 * 1024;

/** Checks tokens of an issuer: their signature, issuer, audience and times. */
export function createTokenVerifier(settings: TokenSettings, parts: TokenParts): Keys {
  const keyOf = createIssuerKeys(settings, parts);
  const { issuer, audience } = settings;
  return {
    find: async (token) => {
      if (token.length > MAX_TOKEN || token.split(".").length !== 3) return null;
      try {
        const { payload } = await jwtVerify(token, keyOf, {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          requiredClaims: ["exp"],
          clockTolerance: CLOCK_TOLERANCE_S,
          currentDate: new Date(parts.now()),
        });
        return grantOf(payload, settings);
      } catch (error) {
        if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
        throw error;
      }
    },
  };
}

const MAX_NAME = 100;

function grantOf(payload: JWTPayload, { tenantsClaim }: TokenSettings): Grant {
  const named = [payload.client_id, payload.azp, payload.sub].find((value) => typeof value === "string");
  const name = `token of ${String(named ?? "nobody").slice(0, MAX_NAME)}`;
  return { name, tenants: tenantsClaim === null ? null : wordsOf(payload[tenantsClaim]) };
}

/** A list, or a text with blanks between; none of anything else, so that a token without the claim opens nothing. */
function wordsOf(claim: unknown): readonly string[] {
  const list = typeof claim === "string" ? claim.split(/\s+/) : claim;
  return Array.isArray(list) ? list.filter((one) => typeof one === "string" && one !== "") : [];
}

/** Keys older than this, in ms, are requested again while they remain in use. */
const FRESH_MS = 600_000;
/** Older keys are used no more, in ms: the issuer may have taken one back since. */
const HOLD_MS = 24 * 3_600_000;
/** Shortest time between two requests to the issuer, in ms; the second constant applies while there are no keys. */
const AGAIN_MS = 60_000;
const AGAIN_WITHOUT_KEYS_MS = 30_000;
/** How long tokens whose key is not known wait from the beginning of an asking, in ms. */
const WAIT_MS = 3000;

/**
 * The issuer's keys, loaded on demand. They are requested again when they are old, and when a token names an unknown
 * key, because issuers change their keys. Tokens with known keys never wait for such a request, because anybody can name
 * an unknown key, and an issuer can hang.
 */
function createIssuerKeys(settings: TokenSettings, { read, now, log }: TokenParts): JWTVerifyGetKey {
  let keys: ReturnType<typeof createLocalJWKSet> | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  /** Resolves when the newest asking has ended, or nobody should wait for it any longer. */
  let waiting: Promise<unknown> = Promise.resolve();
  // The clock, which tells whether tokens have run out, may be set back.
  const since = (at: number): number => Math.abs(now() - at);
  const ask = async (): Promise<void> => {
    try {
      const url = settings.jwksUrl ?? (await findJwksUrl(settings.issuer, read));
      const found: unknown = JSON.parse(await read(url));
      if (!isRecord(found) || !Array.isArray(found.keys)) throw new Error(`${url} has no list of keys`);
      keys = createLocalJWKSet({ keys: found.keys });
      readAt = now();
    } catch (error) {
      log.error("the issuer's keys cannot be read", { issuer: settings.issuer, error: String(error) });
    }
    isAsking = false;
  };
  const refresh = (afterMs: number): Promise<unknown> => {
    if (!isAsking && since(askedAt) >= afterMs) {
      isAsking = true;
      askedAt = now();
      waiting = Promise.race([ask(), setTimeout(WAIT_MS, null, { ref: false })]);
    }
    return waiting;
  };
  return async (header, token) => {
    if (since(readAt) >= HOLD_MS) keys = null;
    if (keys === null) await refresh(AGAIN_WITHOUT_KEYS_MS);
    else if (since(readAt) >= FRESH_MS) void refresh(AGAIN_MS);
    if (keys === null) {
      const detail = "the keys of the tokens' issuer cannot be read; try again";
      throw new ProblemError(503, "issuer_unavailable", detail, { headers: { "retry-after": "30" } });
    }
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh(AGAIN_MS);
      return await keys(header, token);
    }
  };
}

/** Asks the issuer where its keys are (RFC 8414, 3.1; OpenID Connect Discovery, 4). @throws when neither says so */
async function findJwksUrl(issuer: string, read: TokenParts["read"]): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  let problem: unknown;
  for (const place of places) {
    try {
      const found: unknown = JSON.parse(await read(place));
      // Another issuer's document must not decide whose keys count.
      if (isRecord(found) && found.issuer === issuer && typeof found.jwks_uri === "string")
        return found.jwks_uri;
      problem = new Error(`${place} is not a description of ${issuer}`);
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}
