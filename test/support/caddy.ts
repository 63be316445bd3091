import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./local.ts";
import { temporaryDirectory } from "./temporary.ts";
import { untilTrue } from "./until.ts";

/** Starts Caddy before a server, with TLS by an authority of Caddy's own that nothing else trusts. */
export async function startCaddy(target: string) {
  const directory = temporaryDirectory();
  const port = freePort();
  const file = join(directory.path, "Caddyfile");
  const options = `admin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tstorage file_system ${directory.path}/storage`;
  const site = `bind 127.0.0.1\n\ttls internal\n\treverse_proxy ${new URL(target).host}`;
  writeFileSync(file, `{\n\t${options}\n}\nhttps://localhost:${port} {\n\t${site}\n}\n`);
  const child = Bun.spawn(["caddy", "run", "--adapter", "caddyfile", "--config", file], {
    env: { PATH: process.env.PATH ?? "", HOME: directory.path },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const authority = join(directory.path, "storage/pki/authorities/local/root.crt");
  const url = `https://localhost:${port}`;
  await untilTrue(async () => {
    if (!(await Bun.file(authority).exists())) return false;
    const answer = await fetch(`${url}/health`, { tls: { ca: await Bun.file(authority).text() } }).catch(
      () => null,
    );
    return answer?.ok === true;
  });
  return {
    url,
    /** The file with the certificate to trust. */
    authority,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      child.kill("SIGKILL");
      await child.exited;
      directory[Symbol.dispose]();
    },
  };
}
