import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import type { PinningProxy } from "../../fetching/index.ts";
import type { GitTenant } from "../settings.ts";
import { writeWhole } from "../state-file.ts";
import type { GitCredentials, GitOptions } from "./git.ts";
import { openSsh, sshUrlProblem } from "./ssh.ts";

/** What the operator allows git tenants. */
export type GitPermissions = {
  /** The schemes that the operator allows: `https` by default, also `http`, `file` and `ssh`. */
  readonly protocols: readonly string[];
  /** The file with the keys of hosts that ssh may talk to; null without one. */
  readonly knownHostsFile: string | null;
};

/** What all git tenants share for reaching their repositories. */
export type GitAccess = GitPermissions & {
  /** The variables that git needs: PATH, and where the system keeps its certificates. */
  readonly environment: Readonly<Record<string, string>>;
  /** Opens a proxy that admits connections to this host, and to others as the egress policy decides. */
  readonly openProxy: (host: string) => Promise<PinningProxy>;
  /** Finds an address of a host that the egress policy admits, for programs that use no proxy. */
  readonly resolveHost: (host: string) => Promise<string>;
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
 * credentials; or the command for ssh, which connects to a checked address without a proxy.
 * @throws Failure `invalid_settings` for a URL that is not allowed, a token's variable that is not set, or a
 * key that cannot be read; `egress_refused`
 */
export async function openAccess(access: GitAccess, { tenant, home }: AccessOptions): Promise<OpenAccess> {
  const { environment, certificateFile, silenceLimitMs } = access;
  const url = requireAllowedUrl(tenant, access);
  const token = readToken(tenant, access);
  const credentials = token === null ? null : await writeAskpass(home, { url, token });
  const { knownHostsFile } = access;
  const isSsh = url.protocol === "ssh:" && knownHostsFile !== null;
  const ssh = isSsh
    ? await openSsh({ tenant, address: await access.resolveHost(url.hostname), knownHostsFile })
    : null;
  const proxy = url.protocol.startsWith("http") ? await access.openProxy(url.hostname) : null;
  return {
    git: {
      environment,
      protocols: [url.protocol.replace(":", "")],
      proxyUrl: proxy && proxyAddress(proxy),
      credentials,
      ssh,
      certificateFile,
      silenceLimitMs,
    },
    [Symbol.asyncDispose]: async () => {
      await proxy?.[Symbol.asyncDispose]();
    },
  };
}

/**
 * Returns the repository's URL if the operator allows it.
 * @throws Failure `invalid_settings`
 */
export function requireAllowedUrl(tenant: GitTenant, { protocols, knownHostsFile }: GitPermissions): URL {
  const { codename, repositoryUrl } = tenant;
  const url = URL.parse(repositoryUrl);
  // What is no URL is git's short form of ssh, `user@host:path`.
  const scheme = url?.protocol.replace(":", "") ?? "ssh";
  const refuse = (problem: string): Failure =>
    new Failure("invalid_settings", `Tenant '${codename}': ${problem}`);
  if (!SCHEMES.includes(scheme) || !protocols.includes(scheme)) {
    const allowed = protocols.filter((name) => SCHEMES.includes(name)).join(", ");
    const hint = SCHEMES.includes(scheme) ? "; DOCS_SEARCH_GIT_PROTOCOLS can allow it" : "";
    throw refuse(`git_repo_url has the scheme ${scheme}, allowed is ${allowed}${hint}`);
  }
  if (scheme === "ssh") {
    const problem = sshUrlProblem(repositoryUrl);
    if (problem !== null) throw refuse(`git_repo_url ${problem}`);
    if (tenant.sshKeyFile === null) throw refuse("git over ssh needs git_ssh_key_file, a deploy key");
    if (knownHostsFile === null)
      throw refuse("git over ssh needs DOCS_SEARCH_GIT_KNOWN_HOSTS, a file with the keys of trusted hosts");
  }
  return new URL(repositoryUrl);
}

const SCHEMES: readonly string[] = ["https", "http", "file", "ssh"];

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
