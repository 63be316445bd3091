import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { reservePort } from "../../src/server/listen.ts";
import { temporaryDirectory } from "./temporary.ts";

export const CADDY = Bun.which("caddy");

/**
 * Starts a Caddy on a free port of loopback.
 * @param directives what stands in its site
 * @throws when there is none, see scripts/ensure.sh
 */
export async function startCaddy(directives: string) {
  if (CADDY === null) throw new Error("caddy is missing: run sh scripts/ensure.sh slow");
  const directory = temporaryDirectory();
  const url = `http://127.0.0.1:${await reservePort("127.0.0.1", 0)}`;
  const file = join(directory.path, "Caddyfile");
  writeFileSync(file, `{\n\tadmin off\n}\n${url} {\n${directives}\n}\n`);
  const child = Bun.spawn([CADDY, "run", "--adapter", "caddyfile", "--config", file], {
    env: { HOME: directory.path },
    stdio: ["ignore", "ignore", "ignore"],
  });
  while ((await fetch(url).catch(() => null)) === null) {
    if (child.exitCode !== null) throw new Error(`caddy ended with ${child.exitCode}`);
    await Bun.sleep(20);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      directory[Symbol.dispose]();
    },
  };
}
