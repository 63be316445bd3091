import { Failure } from "../base/failure.ts";
import { parsePageUrl } from "../urls/index.ts";
import type { App } from "./app.ts";
import { DEFAULT_NETWORK } from "./network.ts";

/** How long the issuer may take to answer, in ms; callers wait for it. */
const TIMEOUT_MS = 10_000;

/** Reads small texts from a named issuer of tokens, which may have a private address. */
export function openIssuer(
  app: App,
  urls: readonly string[],
): { readonly read: (url: string) => Promise<string> } & AsyncDisposable {
  const hosts = urls.map((url) => new URL(url).hostname);
  const session = app.openSession(
    { ...DEFAULT_NETWORK, requestTimeoutMs: TIMEOUT_MS },
    { kind: "configured_source", hosts },
  );
  return {
    read: async (written) => {
      const url = parsePageUrl(written);
      if (url === null) throw new Failure("invalid_url", `${written.slice(0, 200)} is no address`);
      const options = { purpose: "robots", deadlineMs: TIMEOUT_MS, tries: 1 } as const;
      const { status, body } = await session.http.fetchStream(url, options);
      const text = await new Response(body).text();
      if (status !== 200) throw new Failure("http_status", `GET ${url} was answered with ${status}`);
      return text;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
