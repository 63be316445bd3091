import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reservePort } from "../../src/server/listen.ts";

/** Where nginx is, which Debian keeps out of the path of ordinary users; see scripts/ensure.sh. */
export const NGINX = Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` });

export type Nginx = AsyncDisposable & { readonly url: string };

/**
 * Starts an nginx on a free port of loopback.
 * @param locations what stands in its `server`
 * @throws when there is none, see scripts/ensure.sh
 */
export async function startNginx(locations: string): Promise<Nginx> {
  if (NGINX === null) throw new Error("nginx is missing: run sh scripts/ensure.sh slow");
  const directory = mkdtempSync(join(tmpdir(), "nginx-"));
  const port = await reservePort("127.0.0.1", 0);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  const config = join(directory, "nginx.conf");
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${directory}/pid; error_log stderr;
events {}
http { access_log off; ${paths.join(" ")} server { listen 127.0.0.1:${port}; location = / { return 204; } ${locations} } }`,
  );
  const child = Bun.spawn([NGINX, "-p", directory, "-e", "stderr", "-c", config], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://127.0.0.1:${port}`;
  while ((await fetch(url).catch(() => null)) === null) {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
    await Bun.sleep(20);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}
