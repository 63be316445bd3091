import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./local.ts";
import { temporaryDirectory } from "./temporary.ts";
import { untilTrue } from "./until.ts";

export const CADDY = Bun.which("caddy");

/**
 * Starts a Caddy on a free port of loopback.
 * @param directives what stands in its site
 * @throws when there is none, see scripts/ensure.sh
 */
export async function startCaddy(directives: string) {
  const url = `http://127.0.0.1:${freePort()}`;
  const caddy = run(`${url} {\n${directives}\n}`);
  await caddy.answers(() => fetch(url));
  return { url, [Symbol.asyncDispose]: caddy.stop };
}

/** Starts Caddy before a server, with TLS by an authority of Caddy's own that nothing else trusts. */
export async function startTlsCaddy(target: string) {
  const url = `https://localhost:${freePort()}`;
  const site = `bind 127.0.0.1\n\ttls internal\n\treverse_proxy ${new URL(target).host}`;
  const caddy = run(`${url} {\n\t${site}\n}`);
  const authority = join(caddy.directory, "storage/pki/authorities/local/root.crt");
  await caddy.answers(async () => {
    const { ok } = await fetch(`${url}/health`, { tls: { ca: await Bun.file(authority).text() } });
    if (!ok) throw new Error("the server is not there yet");
  });
  return {
    url,
    /** The file with the certificate to trust. */
    authority,
    [Symbol.asyncDispose]: caddy.stop,
  };
}

function run(site: string) {
  if (CADDY === null) throw new Error("caddy is missing: run sh scripts/ensure.sh slow");
  const directory = temporaryDirectory();
  const file = join(directory.path, "Caddyfile");
  const options = `admin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tstorage file_system ${directory.path}/storage`;
  writeFileSync(file, `{\n\t${options}\n}\n${site}\n`);
  const child = Bun.spawn([CADDY, "run", "--adapter", "caddyfile", "--config", file], {
    env: { PATH: process.env.PATH ?? "", HOME: directory.path },
    stdio: ["ignore", "ignore", "ignore"],
  });
  return {
    directory: directory.path,
    answers: (ask: () => Promise<unknown>): Promise<void> =>
      untilTrue(async () => {
        if (child.exitCode !== null) throw new Error(`caddy ended with ${child.exitCode}`);
        return ask().then(
          () => true,
          () => false,
        );
      }),
    stop: async (): Promise<void> => {
      child.kill("SIGTERM");
      await child.exited;
      directory[Symbol.dispose]();
    },
  };
}
