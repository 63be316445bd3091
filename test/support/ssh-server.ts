import { mkdirSync, mkdtempSync } from "node:fs";
import { appendFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reservePort } from "../../src/server/listen.ts";
import { TestRepository } from "./git-server.ts";

/** Where sshd is, which Debian keeps out of the path of ordinary users. */
const SSHD = Bun.which("sshd", { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` });

export type SshServer = AsyncDisposable & {
  readonly port: number;
  readonly directory: string;
  /** What stands in `known_hosts` for it. */
  readonly knownHost: string;
  /** What the server has said so far. */
  readonly log: () => string;
  /** The address of a repository that `create` made. */
  url(name: string): string;
  create(name: string): Promise<TestRepository>;
  /** Makes a key pair, and returns the private key's file. */
  makeKey(name: string, options: { readonly isTaken: boolean }): Promise<string>;
};

/**
 * Starts an OpenSSH server on a free port of loopback, for this user and keys that `makeKey` makes.
 * @throws when there is none, see scripts/ensure.sh
 */
export async function serveSsh(): Promise<SshServer> {
  if (SSHD === null) throw new Error("sshd is missing: run sh scripts/ensure.sh slow");
  // As root it wants this directory, which the service's script makes elsewhere.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true });
  const directory = mkdtempSync(join(tmpdir(), "sshd-"));
  const authorized = join(directory, "authorized_keys");
  const makeKey: SshServer["makeKey"] = async (name, { isTaken }) => {
    const path = join(directory, name);
    await Bun.$`ssh-keygen -q -t ed25519 -N "" -f ${path}`;
    if (isTaken) await appendFile(authorized, await Bun.file(`${path}.pub`).text());
    return path;
  };
  const hostKey = await makeKey("host_key", { isTaken: false });
  const port = await reservePort("127.0.0.1", 0);
  const lines = [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${hostKey}`,
    "PidFile none",
    `AuthorizedKeysFile ${authorized}`,
    "StrictModes no",
    "UsePAM no",
    "AuthenticationMethods publickey",
    "PermitRootLogin prohibit-password",
    "AcceptEnv GIT_PROTOCOL",
    "MaxStartups 100",
  ];
  await writeFile(join(directory, "sshd_config"), `${lines.join("\n")}\n`);
  await writeFile(authorized, "");
  const child = Bun.spawn([SSHD, "-D", "-e", "-f", join(directory, "sshd_config")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const reading = (async () => {
    for await (const bytes of child.stderr) said += new TextDecoder().decode(bytes);
  })();
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`sshd ended with ${child.exitCode}: ${said}`);
    await Bun.sleep(20);
  }
  const user = (await Bun.$`id -un`.text()).trim();
  const [type, key] = (await Bun.file(`${hostKey}.pub`).text()).split(" ");
  return {
    port,
    directory,
    knownHost: `[127.0.0.1]:${port} ${type} ${key}\n`,
    log: () => said,
    url: (name) => `ssh://${user}@127.0.0.1:${port}${join(directory, `${name}.git`)}`,
    create: (name) => TestRepository.create(join(directory, `${name}.git`)),
    makeKey,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      await reading;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
