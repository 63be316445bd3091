import { access, constants } from "node:fs/promises";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import type { GitTenant } from "../settings.ts";

/** How git reaches a repository over ssh. */
export type SshAccess = {
  /** The command that git runs instead of `ssh`, for a shell. */
  readonly command: string;
  /** Says what a person can do about a failure of ssh; null for others. */
  readonly explain: (said: string) => string | null;
};

// Git and ssh take names that begin with a hyphen for options, and decode what a URL has escaped.
const HOST = /^(?:[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?|\[[\da-f:.]{2,45}\])$/i;
const USER = /^[a-z\d_][\w.-]{0,63}$/i;

/** What is wrong with the URL of a repository that is reached over ssh; null when nothing is. */
export function sshUrlProblem(repositoryUrl: string): string | null {
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

export type SshOptions = {
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
export async function openSsh({ tenant, address, knownHostsFile }: SshOptions): Promise<SshAccess> {
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
    command: words.map(quotedForShell).join(" "),
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

const quotedForShell = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

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
