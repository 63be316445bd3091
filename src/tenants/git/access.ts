import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import { quoteForShell } from "../../base/text.ts";
import type { PinningProxy } from "../../fetching/index.ts";
import type { GitTenant } from "../settings.ts";
import { writeWhole } from "../state-file.ts";
import type { GitCredentials, GitReach, GitSetup, SshAccess } from "./git.ts";

/** The operator's permissions for git tenants. */
export type GitPermissions = {
  /** The schemes that the operator allows: `https` by default, also `http`, `file` and `ssh`. */
  readonly protocols: readonly string[];
  /** The file with the keys of hosts that ssh may talk to; null without one. */
  readonly knownHostsFile: string | null;
};

/** Access to repositories, shared by all git tenants. */
export type GitAccess = GitPermissions &
  GitSetup & {
    /** Opens a proxy that admits connections to this host, and to others as the egress policy decides. */
    readonly openProxy: (host: string) => Promise<PinningProxy>;
    /** Finds an address of a host that the egress policy admits, for programs that use no proxy. */
    readonly resolveHost: (host: string) => Promise<string>;
    /** Reads the variable that a tenant names; null when it is not set. */
    readonly readVariable: (name: string) => string | null;
  };

type OpenAccess = AsyncDisposable & {
  readonly git: GitReach;
};

/**
 * Prepares access to a repository: a proxy of its own and, for a private one, the script that git asks for
 * credentials; or the command for ssh, which connects to a checked address without a proxy.
 * @throws Failure `invalid_settings` for a URL that is not allowed, a token's variable that is not set, or a
 * key that cannot be read; `egress_refused`
 */
export async function openAccess(access: GitAccess, tenant: GitTenant, home: string): Promise<OpenAccess> {
  const { environment, certificateFile, silenceLimitMs } = access;
  const url = requireAllowedUrl(tenant, access);
  const token = readToken(tenant, access);
  const credentials = token === null ? null : await writeAskpass(home, url, token);
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

/** Returns the repository's URL if the operator allows it. @throws Failure `invalid_settings` */
export function requireAllowedUrl(tenant: GitTenant, { protocols, knownHostsFile }: GitPermissions): URL {
  const { codename, repositoryUrl } = tenant;
  const url = URL.parse(repositoryUrl);
  // Anything but a URL is git's short form of ssh, `user@host:path`.
  const scheme = url?.protocol.replace(":", "") ?? "ssh";
  const refuse = (problem: string): Failure =>
    new Failure("invalid_settings", `Tenant '${codename}': ${problem}`);
  if (!SCHEMES.includes(scheme) || !protocols.includes(scheme)) {
    const allowed = protocols.filter((name) => SCHEMES.includes(name)).join(", ");
    const hint = SCHEMES.includes(scheme)
      ? `; DOCS_SEARCH_GIT_PROTOCOLS=${[...protocols, scheme].join()} allows it`
      : "";
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
async function writeAskpass(home: string, url: URL, token: string): Promise<GitCredentials> {
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

// Git and ssh take names that begin with a hyphen for options, and decode what a URL has escaped.
const HOST = /^(?:[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?|\[[\da-f:.]{2,45}\])$/i;
const USER = /^[a-z\d_][\w.-]{0,63}$/i;

/** Returns the problem with a repository's URL over ssh; null without one. */
function sshUrlProblem(repositoryUrl: string): string | null {
  const url = URL.parse(repositoryUrl);
  if (url?.protocol !== "ssh:")
    return "must be written as ssh://user@host/path, not in the short form user@host:path";
  if (!HOST.test(url.hostname)) return "must name a host by letters, digits, dots and hyphens";
  if (!USER.test(url.username) || url.password !== "")
    return "must name a user by letters, digits, dots and hyphens, as in ssh://git@host/path";
  if (url.search !== "" || url.hash !== "" || !/^\/[^-]/.test(url.pathname))
    return "must name the path of a repository, as in ssh://git@host/path";
  return null;
}

type SshOptions = {
  readonly tenant: GitTenant;
  /** A checked address of the repository's host; ssh connects to no other one. */
  readonly address: string;
  /** The file with the keys of hosts that the operator trusts. */
  readonly knownHostsFile: string;
};

/**
 * Prepares ssh without configuration, agent or keys of the user: it may only use the tenant's key, and only
 * talks to a host whose key is known.
 * @throws Failure `invalid_settings` when the key cannot be read
 */
async function openSsh({ tenant, address, knownHostsFile }: SshOptions): Promise<SshAccess> {
  const { codename, repositoryUrl, sshKeyFile } = tenant;
  const { hostname, port } = new URL(repositoryUrl);
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  // This is how known_hosts names a host.
  const alias = port === "" || port === "22" ? host : `[${host}]:${port}`;
  await requireReadable(codename, "git_ssh_key_file", sshKeyFile ?? "");
  await requireReadable(codename, "DOCS_SEARCH_GIT_KNOWN_HOSTS", knownHostsFile);
  const options = {
    ...ISOLATED,
    HostName: address,
    HostKeyAlias: alias,
    IdentityFile: quotedForSsh(sshKeyFile ?? ""),
    UserKnownHostsFile: quotedForSsh(knownHostsFile),
  };
  const given = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const words = ["ssh", "-F", "none", ...given];
  return {
    command: words.map(quoteForShell).join(" "),
    explain: (said) => explain(said, { codename, host: alias, port, knownHostsFile }),
  };
}

/** Options that keep ssh from asking, from forwarding and from using anything of the user's. */
const ISOLATED: Readonly<Record<string, string>> = {
  BatchMode: "yes",
  StrictHostKeyChecking: "yes",
  GlobalKnownHostsFile: "none",
  UpdateHostKeys: "no",
  VerifyHostKeyDNS: "no",
  CheckHostIP: "no",
  IdentitiesOnly: "yes",
  IdentityAgent: "none",
  PreferredAuthentications: "publickey",
  ClearAllForwardings: "yes",
  ForwardAgent: "no",
  ForwardX11: "no",
  PermitLocalCommand: "no",
  ControlPath: "none",
  ConnectTimeout: "30",
  ServerAliveInterval: "15",
  LogLevel: "ERROR",
};

/** @throws Failure `invalid_settings` */
async function requireReadable(codename: string, setting: string, path: string): Promise<void> {
  try {
    await access(path, constants.R_OK);
  } catch (cause) {
    const what = `Tenant '${codename}': ${setting}: ${path} cannot be read: ${systemReason(cause)}`;
    throw new Failure("invalid_settings", what, { cause });
  }
}

// In values of options ssh expands %-tokens and environment variables, and splits at blanks.
const quotedForSsh = (path: string): string =>
  `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;

type Explained = {
  readonly codename: string;
  readonly host: string;
  readonly port: string;
  readonly knownHostsFile: string;
};

function explain(said: string, { codename, host, port, knownHostsFile }: Explained): string | null {
  if (/REMOTE HOST IDENTIFICATION HAS CHANGED/.test(said))
    return `Tenant '${codename}': the key of ${host} is another one than ${knownHostsFile} has; if the host has changed it, remove the old one: ssh-keygen -R '${host}' -f ${knownHostsFile}`;
  if (/Host key verification failed|No \S+ host key is known/.test(said)) {
    const name = host.replace(/^\[|\](?::\d+)?$/g, "");
    const scan = `ssh-keyscan ${port === "" ? "" : `-p ${port} `}${name}`;
    return `Tenant '${codename}': the key of ${host} is not in ${knownHostsFile}; add it when its fingerprint is the one that the host's operator names: ${scan} >> ${knownHostsFile}`;
  }
  if (/UNPROTECTED PRIVATE KEY FILE/.test(said))
    return `Tenant '${codename}': others may read git_ssh_key_file; ssh takes it with mode 600 only`;
  if (/Permission denied \(/.test(said))
    return `Tenant '${codename}': the host does not take the key in git_ssh_key_file for this repository; it must be a deploy key there, without a passphrase`;
  return null;
}
