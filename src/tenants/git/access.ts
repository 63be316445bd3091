import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import type { PinningProxy } from "../../fetching/index.ts";
import type { GitTenant } from "../settings.ts";
import { writeWhole } from "../state-file.ts";
import type { GitCredentials, GitOptions } from "./git.ts";

/** What all git tenants share for reaching their repositories. */
export type GitAccess = {
  /** The variables that git needs: PATH, and where the system keeps its certificates. */
  readonly environment: Readonly<Record<string, string>>;
  /** The schemes that the operator allows: `https` by default, also `http` and `file`. */
  readonly protocols: readonly string[];
  /** Opens a proxy that admits connections to this host, and to others as the egress policy decides. */
  readonly openProxy: (host: string) => Promise<PinningProxy>;
  /** Reads the variable that a tenant names; null when it is not set. */
  readonly readVariable: (name: string) => string | null;
  /** A PEM file of trusted certificates; null means the system's. */
  readonly certificateFile: string | null;
  /** Git is ended when it receives nothing for this long, in ms. */
  readonly silenceLimitMs: number;
};

type AccessOptions = { readonly tenant: GitTenant; readonly home: string };

type OpenAccess = AsyncDisposable & {
  readonly git: Omit<GitOptions, "directory" | "home" | "url" | "signal">;
};

/**
 * Prepares access to a repository: a proxy of its own and, for a private one, the script that git asks for
 * credentials.
 * @throws Failure `invalid_settings` for a scheme that is not allowed, or a token's variable that is not set
 */
export async function openAccess(access: GitAccess, { tenant, home }: AccessOptions): Promise<OpenAccess> {
  const { environment, certificateFile, silenceLimitMs } = access;
  const url = requireAllowedUrl(tenant, access.protocols);
  const token = readToken(tenant, access);
  const credentials = token === null ? null : await writeAskpass(home, { url, token });
  const proxy = url.protocol === "file:" ? null : await access.openProxy(url.hostname);
  return {
    git: {
      environment,
      protocols: [url.protocol.replace(":", "")],
      proxyUrl: proxy && proxyAddress(proxy),
      credentials,
      certificateFile,
      silenceLimitMs,
    },
    [Symbol.asyncDispose]: async () => {
      await proxy?.[Symbol.asyncDispose]();
    },
  };
}

/**
 * Returns the repository's URL if the operator allows its scheme.
 * @throws Failure `invalid_settings`
 */
export function requireAllowedUrl({ codename, repositoryUrl }: GitTenant, protocols: readonly string[]): URL {
  const url = URL.parse(repositoryUrl);
  const scheme = url?.protocol.replace(":", "") ?? "ssh";
  if (url && SCHEMES.includes(scheme) && protocols.includes(scheme)) return url;
  const allowed = protocols.filter((name) => SCHEMES.includes(name)).join(", ");
  const hint = SCHEMES.includes(scheme) ? "; DOCS_SEARCH_GIT_PROTOCOLS can allow it" : "";
  throw new Failure(
    "invalid_settings",
    `Tenant '${codename}': git_repo_url has the scheme ${scheme}, allowed is ${allowed}${hint}`,
  );
}

const SCHEMES: readonly string[] = ["https", "http", "file"];

function readToken({ codename, tokenVariable }: GitTenant, { readVariable }: GitAccess): string | null {
  if (tokenVariable === null) return null;
  const token = readVariable(tokenVariable)?.trim() ?? "";
  if (token !== "") return token;
  throw new Failure("invalid_settings", `Tenant '${codename}': the variable ${tokenVariable} is not set`);
}

/**
 * Writes the script that git asks for user name and password. It answers from its environment and only for
 * the repository's own host, so it contains no secret and gives none to another server.
 */
async function writeAskpass(
  home: string,
  { url, token }: { url: URL; token: string },
): Promise<GitCredentials> {
  const askpassPath = join(home, "askpass.sh");
  const script = `#!/bin/sh
case "$1" in
  "Username for '${url.origin}'"*) printf '%s\\n' "$SYNC_USERNAME" ;;
  "Password for '${url.protocol}//"*"@${url.host}'"*) printf '%s\\n' "$SYNC_TOKEN" ;;
  *) exit 1 ;;
esac
`;
  await writeWhole(askpassPath, script, 0o700);
  // The variable may hold user:token, for servers that need a user name; forges accept any name with a token.
  const colon = token.indexOf(":");
  return colon > 0
    ? { askpassPath, username: token.slice(0, colon), token: token.slice(colon + 1) }
    : { askpassPath, username: "x-access-token", token };
}

function proxyAddress({ url, username, password }: PinningProxy): string {
  const address = new URL(url);
  address.username = username;
  address.password = password;
  return address.href;
}
