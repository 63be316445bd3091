import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import project from "../../project.json" with { type: "json" };
import { forAllTests } from "../support/for-all-tests.ts";
import { freePort, outputOf, serveLocal } from "../support/local.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const ROOT = join(import.meta.dir, "../..");
const missing = ["podman", "runc", "mmdebstrap"].filter((tool) => Bun.which(tool) === null);
const canRun = missing.length === 0 && process.getuid?.() === 0;
if (!canRun)
  console.log(
    `images are not built: they take root and podman, runc and mmdebstrap; missing: ${missing.join(", ") || "root"}`,
  );

const SENTENCE = "The sea rises twice a day, and the keeper writes down how far.";
const site = forAllTests(
  serveLocal(({ url }) => {
    const late = `<script>document.body.innerHTML = "<article><h1>Tides</h1><p>" + ${JSON.stringify(SENTENCE)} + "</p></article>"</script>`;
    const body =
      new URL(url).pathname === "/late" ? late : `<article><h1>Tides</h1><p>${SENTENCE}</p></article>`;
    return new Response(`<!doctype html><title>Tides</title><body>${body}`, {
      headers: { "content-type": "text/html" },
    });
  }),
);

/** The images and containers of the tests are apart from the machine's. */
const place = forAllTests(temporaryDirectory());
const settings = join(place.path, "storage.conf");
writeFileSync(
  settings,
  `[storage]\ndriver = "overlay"\ngraphroot = "${place.path}/graph"\nrunroot = "${place.path}/run"\n`,
);
const env = { ...process.env, CONTAINERS_STORAGE_CONF: settings, BUILDAH_ISOLATION: "chroot" };

// Not the synchronous way, which would keep the site from answering.
const run = (...command: string[]) =>
  outputOf(Bun.spawn(command, { cwd: ROOT, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" }));

async function succeed(...command: string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await run(...command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.slice(-2000)}`);
  return stdout;
}

const podman = (...words: string[]) => ["podman", "--runtime=runc", "--cgroup-manager=cgroupfs", ...words];
const IMAGE = project.image;

/** A container as careful people run it: nothing can be written but the volume and /tmp, and there are no rights. */
const careful = (...words: string[]) =>
  podman(
    ...[
      "run",
      "--read-only",
      "--tmpfs=/tmp",
      "--cap-drop=all",
      "--security-opt=no-new-privileges",
      "--network=host",
    ],
    // Where systemd does not run, nobody would ask for the health; limits are those of whoever runs the tests.
    ...["--health-interval=disable", "--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096", ...words],
  );

describe.skipIf(!canRun)("the container image", () => {
  beforeAll(async () => {
    // The base comes from where Debian's packages come from, because no registry of images may be reachable.
    const base = join(place.path, "base.tar");
    await succeed("mmdebstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", base);
    await succeed("podman", "import", base, "localhost/base");
    await succeed(process.execPath, "scripts/package/image.ts", "--base", "localhost/base");
  }, 1_200_000);
  afterAll(async () => {
    await run(...podman("rm", "--all", "--force", "--time=0"));
    await run("podman", "system", "reset", "--force");
  });

  test.each(["slim", "latest"])(
    "%s serves as an ordinary user who can write nothing else, and is asked for its health",
    async (tag) => {
      const port = `${freePort()}`;
      const data = join(place.path, `data-${tag}`);
      mkdirSync(data);
      await succeed("chown", "10001", data);
      const settings = {
        HOST: "127.0.0.1",
        PORT: port,
        WEB_CONCURRENCY: "1",
        ARTICLE_EXTRACTOR_EGRESS: "open",
      };
      const variables = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
      const id = (
        await succeed(...careful("--detach", `--volume=${data}:/data`, ...variables, `${IMAGE}:${tag}`))
      ).trim();
      const url = `http://127.0.0.1:${port}`;
      await untilTrue(() =>
        fetch(`${url}/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );

      expect((await run(...podman("healthcheck", "run", id))).exitCode).toBe(0);
      const answer = await fetch(`${url}/${site.url.origin}/page`);
      expect(await answer.text()).toContain(SENTENCE);
      const inside = (script: string) => run(...podman("exec", id, "bash", "-c", script));
      expect((await inside("id -u; touch /tmp/a /data/a && echo written")).stdout).toBe("10001\nwritten\n");
      expect((await inside("touch /usr/a || touch /home/a || touch /etc/a")).exitCode).toBe(1);
      const bill = JSON.parse(
        (await inside("cat /usr/share/doc/article-extractor/bill-of-materials.json")).stdout,
      );
      expect(bill.bomFormat).toBe("CycloneDX");

      expect((await run(...podman("stop", "--time=60", id))).exitCode).toBe(0);
      expect(await succeed(...podman("inspect", "--format={{.State.ExitCode}}", id))).toBe("0\n");
    },
  );

  test("reads a page that a script writes where there is a browser, and says so where there is none", async () => {
    const page = `${site.url.origin}/late`;
    const words = ["--env=ARTICLE_EXTRACTOR_PREFER_BROWSER=true", "--rm"];
    const output = ["--output", "text"];
    const { stdout } = await run(...careful(...words, `${IMAGE}:latest`, page, ...output));
    expect(stdout).toContain(SENTENCE);
    const slim = await run(...careful(...words, `${IMAGE}:slim`, page, ...output));
    expect({ stdout: slim.stdout, isRefused: slim.exitCode > 0 }).toEqual({ stdout: "", isRefused: true });
    expect(slim.stderr).toContain("no Chromium, Chrome or Edge was found");
  });

  test("is named and described for both flavours", async () => {
    for (const tag of ["slim", "latest"]) {
      const [image] = JSON.parse(await succeed("podman", "image", "inspect", `${IMAGE}:${tag}`));
      expect(image.Config.User).toBe("reader");
      expect(image.Config.Healthcheck?.Test?.[0] ?? image.Healthcheck?.Test?.[0]).toBe("CMD");
      expect(image.Config.Labels["org.opencontainers.image.licenses"]).toBe("MIT");
    }
  });
});

test("an image that cannot be made says why", async () => {
  const made = (...words: string[]) => run(process.execPath, "scripts/package/image.ts", ...words);
  expect(await made("--flavour", "firefox")).toEqual({
    stdout: "",
    stderr: "error: no flavour firefox, only slim and chromium\n",
    exitCode: 1,
  });
  expect((await made("--platforms", "riscv64")).stderr).toBe(
    "error: no image for riscv64, only for amd64, arm64\n",
  );
});
