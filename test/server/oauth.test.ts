import { beforeEach, describe, expect, test } from "bun:test";
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from "jose";
import { createLog } from "../../src/base/log.ts";
import { createTokenVerifier } from "../../src/server/index.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import { postMcp } from "../support/mcp.ts";
import { folderTenant, openRegistry, openSearchServer } from "../support/search-server.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { until, untilTrue } from "../support/until.ts";

const AUDIENCE = "https://docs.example/mcp";

type Signer = {
  readonly kid: string;
  readonly alg: string;
  readonly key: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
};

async function createSigner(kid: string, alg: string): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return {
    kid,
    alg,
    key: privateKey,
    publicKey,
    jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" },
  };
}

/** An issuer on loopback whose keys a test changes. */
let published: JWK[] = [];
let isDown = false;
let asked: string[] = [];
/** What every answer of the issuer waits for; null while it answers at once. */
let hanging: PromiseWithResolvers<void> | null = null;
const issuerServer = forAllTests(
  serveLocal(async (request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    await hanging?.promise;
    if (isDown) return new Response("down", { status: 500 });
    if (pathname === "/.well-known/oauth-authorization-server/realm")
      return Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` });
    if (pathname === "/realm/keys") return Response.json({ keys: published });
    return new Response("nothing here", { status: 404 });
  }),
);
const ISSUER: string = `http://127.0.0.1:${issuerServer.port}/realm`;

let rsa: Signer;
let ec: Signer;
let stranger: Signer;
[rsa, ec, stranger] = await Promise.all([
  createSigner("one", "RS256"),
  createSigner("two", "ES256"),
  createSigner("one", "RS256"),
]);
const registry = forAllTests(
  openRegistry({
    infrastructure: { allow_index_builds: true },
    tenants: ["harbour", "secretive"].map((codename) =>
      folderTenant(codename, { "a.md": `# A\n\n${codename}\n` }),
    ),
  }),
);
beforeEach(() => {
  published = [rsa.jwk, ec.jwk];
  isDown = false;
  asked = [];
});

/** Lets the issuer answer nothing until it is released. */
function hang(): Disposable & { readonly release: () => void } {
  const answers = Promise.withResolvers<void>();
  const release = (): void => {
    answers.resolve();
    hanging = null;
  };
  hanging = answers;
  return { release, [Symbol.dispose]: release };
}

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

function signed(signer: Signer, claims: Record<string, unknown> = {}, header: object = {}): Promise<string> {
  return new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: "ann", exp: inSeconds(60), ...claims })
    .setProtectedHeader({ alg: signer.alg, kid: signer.kid, ...header })
    .sign(signer.key);
}

let now = Date.now();
function verifier(overrides: object = {}) {
  now = Date.now();
  const settings = { issuer: ISSUER, audience: AUDIENCE, jwksUrl: null, tenantsClaim: null, ...overrides };
  const log = createLog({ level: "debug", format: "json", write: (line) => registry.lines.push(line) });
  const read = async (url: string): Promise<string> => {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    return await response.text();
  };
  return { ...settings, ...createTokenVerifier(settings, { read, now: () => now, log }) };
}

describe("a token", () => {
  test("of the issuer, for this server and in its time, is taken", async () => {
    const tokens = verifier();
    for (const signer of [rsa, ec])
      expect(await tokens.find(await signed(signer))).toEqual({ name: "token of ann", tenants: null });
    expect(await tokens.find(await signed(rsa, { client_id: "app" }))).toMatchObject({
      name: "token of app",
    });
    expect(await tokens.find(await signed(rsa, { aud: ["https://x.example", AUDIENCE] }))).not.toBeNull();
  });

  test.each<[string, Record<string, unknown>]>([
    ["another issuer", { iss: "https://evil.example" }],
    ["no issuer", { iss: undefined }],
    ["another audience", { aud: "https://other.example/mcp" }],
    ["an audience that begins like it", { aud: `${AUDIENCE}/x` }],
    ["no audience", { aud: undefined }],
    ["an end in the past", { exp: inSeconds(-60) }],
    ["no end", { exp: undefined }],
    ["an end that is no time", { exp: "soon" }],
    ["a beginning in the future", { nbf: inSeconds(600) }],
  ])("with %s is refused", async (_, claims) => {
    expect(await verifier().find(await signed(rsa, claims))).toBeNull();
  });

  test("whose signature is another's, or none, is refused", async () => {
    const tokens = verifier();
    expect(await tokens.find(await signed(stranger))).toBeNull();
    const whole = await signed(rsa);
    const [head, , signature] = whole.split(".");
    const claims = Buffer.from(JSON.stringify({ iss: ISSUER, aud: AUDIENCE, exp: inSeconds(60) }));
    expect(await tokens.find(`${head}.${claims.toString("base64url")}.${signature}`)).toBeNull();
    expect(await tokens.find(`${whole.slice(0, -4)}AAAA`)).toBeNull();
    const none = new UnsecuredJWT({ iss: ISSUER, aud: AUDIENCE, exp: inSeconds(60) }).encode();
    expect(await tokens.find(none)).toBeNull();
    // The public key is known to everybody, and so must not count as a shared secret.
    const secret = new TextEncoder().encode(JSON.stringify(rsa.jwk));
    const confused = await new SignJWT({ iss: ISSUER, aud: AUDIENCE, exp: inSeconds(60) })
      .setProtectedHeader({ alg: "HS256", kid: "one" })
      .sign(secret);
    expect(await tokens.find(confused)).toBeNull();
  });

  test.each(["RS512", "PS256", "ES384", "EdDSA", "Ed25519"])("may be signed with %s", async (alg) => {
    const signer = await createSigner("other", alg);
    published = [signer.jwk];
    expect(await verifier().find(await signed(signer))).not.toBeNull();
  });

  test("counts only with an algorithm of the server's list, whatever keys the issuer has", async () => {
    // The library would take this one with a key that allows it, so only the list refuses it.
    const other = await createSigner("other", "ML-DSA-44");
    const secret = new TextEncoder().encode("a secret that an issuer has published by mistake");
    const shared = { kty: "oct", k: Buffer.from(secret).toString("base64url"), kid: "shared", alg: "HS256" };
    const { alg: _, ...anyRsa } = rsa.jwk;
    published = [{ ...anyRsa, kid: "any" }, other.jwk, shared];
    expect(await verifier().find(await signed({ ...rsa, kid: "any" }))).not.toBeNull();
    asked = [];
    expect(await verifier().find(await signed(other))).toBeNull();
    const claims = { iss: ISSUER, aud: AUDIENCE, exp: inSeconds(60) };
    const byHmac = (kid: string, key: Uint8Array): Promise<string> =>
      new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid }).sign(key);
    const text = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const pem = await exportSPKI(rsa.publicKey);
    for (const token of [
      await byHmac("shared", secret),
      await byHmac("one", new TextEncoder().encode(pem)),
      await byHmac("any", Buffer.from(String(rsa.jwk.n), "base64url")),
      ...["none", "None", "RS1", "HS256", "", "rs256", null, ["RS256"]].map(
        (alg) => `${text({ alg, kid: "any" })}.${text(claims)}.${text("signature")}`,
      ),
      `${text({ alg: "none" })}.${text(claims)}.`,
    ])
      expect(await verifier().find(token)).toBeNull();
    // It is refused by its head alone: a made-up token does not make the server ask.
    expect(asked).toEqual([]);
  });

  test.each(["", "x", "a.b", "a.b.c", "..", "a.b.c.d", `${"x".repeat(20_000)}.b.c`, "e30.e30.e30"])(
    "that is none is refused",
    async (text) => {
      expect(await verifier().find(text)).toBeNull();
    },
  );

  test("names its tenants in a claim, if that is set; without the claim it is for none", async () => {
    const tokens = verifier({ tenantsClaim: "docs" });
    const tenantsOf = async (docs: unknown) => (await tokens.find(await signed(rsa, { docs })))?.tenants;
    expect(await tenantsOf("harbour  shipyard")).toEqual(["harbour", "shipyard"]);
    expect(await tenantsOf(["harbour"])).toEqual(["harbour"]);
    for (const none of [undefined, null, 7, {}, "", [7]]) expect(await tenantsOf(none)).toEqual([]);
  });
});

describe("the issuer's keys", () => {
  test("are read once for many tokens at once", async () => {
    const tokens = verifier();
    const token = await signed(rsa);
    await Promise.all(Array.from({ length: 20 }, () => tokens.find(token)));
    expect(asked).toEqual(["/.well-known/oauth-authorization-server/realm", "/realm/keys"]);
  });

  test("are read again for a key that is new, but not for each unknown one", async () => {
    const tokens = verifier({ jwksUrl: `${ISSUER}/keys` });
    expect(await tokens.find(await signed(rsa))).not.toBeNull();
    const next = await createSigner("three", "ES256");
    published = [ec.jwk, next.jwk];
    expect(await tokens.find(await signed(next))).toBeNull();
    expect(asked).toHaveLength(1);
    now += 59_000;
    expect(await tokens.find(await signed(next))).toBeNull();
    now += 2000;
    expect(await tokens.find(await signed(next))).not.toBeNull();
    expect(await tokens.find(await signed(rsa))).toBeNull();
    const unknown = await signed(await createSigner("four", "ES256"));
    for (let count = 0; count < 10; count++) expect(await tokens.find(unknown)).toBeNull();
    expect(asked).toHaveLength(2);
  });

  test("hold while the issuer cannot be reached", async () => {
    const tokens = verifier();
    const token = await signed(rsa, { exp: inSeconds(7200) });
    expect(await tokens.find(token)).not.toBeNull();
    isDown = true;
    now += 3_600_000;
    expect(await tokens.find(token)).not.toBeNull();
    await untilTrue(() => registry.lines.join("\n").includes("the issuer's keys cannot be read"));
  });

  test("hold for no more than a day without the issuer", async () => {
    const tokens = verifier();
    const token = await signed(rsa, { exp: inSeconds(200_000) });
    expect(await tokens.find(token)).not.toBeNull();
    isDown = true;
    for (const hours of [1, 22]) {
      now += hours * 3_600_000;
      expect(await tokens.find(token)).not.toBeNull();
    }
    now += 2 * 3_600_000;
    await expect(tokens.find(token)).rejects.toThrow("cannot be read");
  });

  test("that are known let nobody wait while the issuer hangs, which is asked once a minute", async () => {
    const tokens = verifier({ jwksUrl: `${ISSUER}/keys` });
    const token = await signed(rsa, { exp: inSeconds(7200) });
    expect(await tokens.find(token)).not.toBeNull();
    asked = [];
    using issuer = hang();
    const forged = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => signed({ ...stranger, kid: `forged ${index}` })),
    );
    const allRefused = async (): Promise<void> => {
      for (const found of await Promise.all(forged.map(tokens.find))) expect(found).toBeNull();
    };
    await allRefused();
    expect(asked).toEqual([]);
    now += 60_000;
    let hasRefused = false;
    const refused = allRefused().finally(() => {
      hasRefused = true;
    });
    expect(await tokens.find(token)).not.toBeNull();
    expect(hasRefused).toBe(false);
    await refused;
    // Later minutes begin, and the keys grow old, while the issuer still has not answered.
    for (let minute = 0; minute < 30; minute++) {
      now += 60_000;
      expect(await tokens.find(token)).not.toBeNull();
      await allRefused();
    }
    expect(asked).toHaveLength(1);
    isDown = true;
    issuer.release();
    // Each of these minutes has 50 forged tokens, and old keys.
    for (let minute = 1; minute <= 5; minute++) {
      const before = asked.length;
      await until(
        async () => (await tokens.find(token)) !== null && asked.length,
        (count) => count === before + 1 || minute === 1,
      );
      await allRefused();
      expect(asked.length - before).toBeLessThanOrEqual(1);
      now += 60_000;
    }
    expect(asked.length).toBeGreaterThan(3);
  });

  test("that have just changed are waited for by the tokens that need them, if the issuer answers soon", async () => {
    const tokens = verifier({ jwksUrl: `${ISSUER}/keys` });
    expect(await tokens.find(await signed(rsa))).not.toBeNull();
    const next = await createSigner("three", "ES256");
    published = [ec.jwk, next.jwk];
    now += 60_000;
    using issuer = hang();
    const waiting = [await signed(next), await signed(next)].map((token) => tokens.find(token));
    await until(
      () => asked.length,
      (count) => count === 2,
    );
    issuer.release();
    for (const found of await Promise.all(waiting)) expect(found).not.toBeNull();
  });

  test("that never came are asked for again after a while, and it is said that they are missing", async () => {
    const tokens = verifier();
    isDown = true;
    const token = await signed(rsa);
    await expect(tokens.find(token)).rejects.toThrow("the keys of the tokens' issuer cannot be read");
    isDown = false;
    await expect(tokens.find(token)).rejects.toThrow("cannot be read");
    now += 31_000;
    expect(await tokens.find(token)).not.toBeNull();
  });

  test.each(["x", "{}", '{"keys":7}', "[]", "null"])("that are %p are none", async (text) => {
    const log = createLog({ level: "debug", format: "json", write: () => {} });
    const settings = { issuer: ISSUER, audience: AUDIENCE, jwksUrl: "http://x.example/", tenantsClaim: null };
    const tokens = createTokenVerifier(settings, { read: async () => text, now: Date.now, log });
    await expect(tokens.find(await signed(rsa))).rejects.toThrow("cannot be read");
  });

  test("are not taken from an issuer that describes another", async () => {
    const log = createLog({ level: "debug", format: "json", write: () => {} });
    const settings = { issuer: ISSUER, audience: AUDIENCE, jwksUrl: null, tenantsClaim: null };
    const read = async (url: string): Promise<string> =>
      url.includes("well-known")
        ? JSON.stringify({ issuer: "https://evil.example", jwks_uri: "https://evil.example/keys" })
        : JSON.stringify({ keys: [rsa.jwk] });
    const tokens = createTokenVerifier(settings, { read, now: Date.now, log });
    await expect(tokens.find(await signed(rsa))).rejects.toThrow("cannot be read");
  });
});

const listTenants = (url: string, token: string | null): Promise<Response> =>
  postMcp(
    url,
    { method: "tools/call", params: { name: "list_tenants" } },
    token === null ? {} : { authorization: `Bearer ${token}` },
  );

describe("a server that takes tokens", () => {
  test("tells who has none where to get one, with and without a prefix", async () => {
    for (const basePath of ["", "/tools"]) {
      await using server = openSearchServer(registry, { tokens: verifier(), basePath });
      const refused = await listTenants(`${server.url}${basePath}`, null);
      const place = `${server.url}${basePath}/.well-known/oauth-protected-resource/mcp`;
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toBe(
        `Bearer realm="article-extractor", resource_metadata="${place}"`,
      );
      const wrong = await listTenants(`${server.url}${basePath}`, "a.b.c");
      expect(wrong.headers.get("www-authenticate")).toContain('error="invalid_token"');
      const places = [place, place.replace(/\/mcp$/, ""), `${place}/`];
      for (const one of [...places, `${server.url}/.well-known/oauth-protected-resource${basePath}/mcp`])
        expect(await (await fetch(one)).json()).toEqual({
          resource: AUDIENCE,
          authorization_servers: [ISSUER],
          bearer_methods_supported: ["header"],
          resource_name: "article-extractor",
        });
      expect((await fetch(`${place}/x`)).status).toBe(401);
    }
  });

  test("takes them beside keys, and shows each only its tenants", async () => {
    await using server = openSearchServer(registry, {
      apiKey: "the-key",
      tokens: verifier({ tenantsClaim: "docs" }),
    });
    registry.lines.length = 0;
    const codenames = async (token: string): Promise<unknown> => {
      const { result } = (await (await listTenants(server.url, token)).json()) as {
        result: { structuredContent: { tenants: { codename: string }[] } };
      };
      const { tenants } = result.structuredContent;
      return tenants.map(({ codename }) => codename);
    };
    expect(await codenames("the-key")).toEqual(["harbour", "secretive"]);
    const token = await signed(rsa, { docs: "harbour" });
    expect(await codenames(token)).toEqual(["harbour"]);
    expect(await codenames(await signed(rsa))).toEqual([]);
    expect(registry.lines.join("\n")).toContain('"key":"token of ann"');
    expect(registry.lines.join("\n")).not.toContain(token);
  });

  test("answers calls with known keys while forged tokens make it ask an issuer that hangs", async () => {
    const tokens = verifier();
    await using server = openSearchServer(registry, { tokens });
    const token = await signed(rsa, { exp: inSeconds(7200) });
    expect((await listTenants(server.url, token)).status).toBe(200);
    now += 3_600_000;
    asked = [];
    using _ = hang();
    const forged = await signed({ ...stranger, kid: "forged" }, { exp: inSeconds(7200) });
    const refused: Promise<Response>[] = [];
    for (let call = 0; call < 25; call++) {
      refused.push(listTenants(server.url, forged), listTenants(server.url, forged));
      expect((await listTenants(server.url, token)).status).toBe(200);
    }
    for (const response of await Promise.all(refused)) expect(response.status).toBe(401);
    expect(asked).toHaveLength(1);
  });

  test("that takes none has no such document", async () => {
    await using server = openSearchServer(registry);
    const found = await fetch(`${server.url}/.well-known/oauth-protected-resource`);
    expect(found.status).toBe(404);
  });
});

test("the program reads the issuer's keys itself", async () => {
  const root = writeDeployment({
    log_level: "info",
    oauth: { issuer: ISSUER, audience: AUDIENCE, tenants_claim: "docs" },
  });
  await using served = await Served.start(root);
  expect((await listTenants(served.url, null)).status).toBe(401);
  const token = await signed(ec, { docs: ["tool"] });
  const answer = await until(
    async () => await (await listTenants(served.url, token)).text(),
    (text) => text.includes("tool"),
  );
  expect(answer).toContain('"count":1');
  expect((await listTenants(served.url, await signed(stranger))).status).toBe(401);
});
