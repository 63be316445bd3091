import { expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeCertificate } from "../../support/certificates.ts";
import { runCommand } from "../../support/command.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const { cert } = await makeCertificate("good.test");
const FILES: Readonly<Record<string, string>> = {
  "one.pem": cert,
  "two.pem": `a comment\n${cert}\n${cert}`,
  "windows.pem": cert.replaceAll("\n", "\r\n"),
  "empty.pem": "",
  "words.pem": "certificate",
  "damaged.pem": cert.replace(/(BEGIN CERTIFICATE-----\n)[^\n]+/, "$1AAAA"),
  "env.txt": "NODE_EXTRA_CA_CERTS=one.pem",
};

test.each([
  ["", "ok", "none"],
  ["one.pem", "ok", "1 of them"],
  ["two.pem", "ok", "2 of them"],
  ["windows.pem", "ok", "1 of them"],
  ["nope.pem", "problem", "nope.pem cannot be read: there is no such file"],
  ["folder", "problem", "folder is a directory, not a file"],
  ["empty.pem", "problem", "empty.pem holds no certificate in PEM"],
  ["words.pem", "problem", "words.pem holds no certificate in PEM"],
  ["damaged.pem", "problem", "damaged.pem holds a damaged certificate"],
])("doctor looks at the file that NODE_EXTRA_CA_CERTS names: %j", async (path, status, detail) => {
  const found = await look(path === "" ? {} : { NODE_EXTRA_CA_CERTS: path });
  expect(found).toMatchObject({ status, detail: expect.stringContaining(detail) });
});

test("doctor says that the variable has no effect in a file of settings", async () => {
  const found = await look({}, ["--env-file", "env.txt"]);
  expect(found).toMatchObject({ status: "problem", detail: expect.stringContaining("no effect") });
});

/** What doctor says of the certificates, in a folder with the files. */
async function look(env: Readonly<Record<string, string>>, words: readonly string[] = []) {
  using place = temporaryDirectory();
  await mkdir(join(place.path, "folder"));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(place.path, name), text);
  const { stdout } = await runCommand(["doctor", "--json", ...words], {
    cwd: place.path,
    env: { HOME: place.path, ARTICLE_EXTRACTOR_BROWSER_PATH: "none", ...env },
  });
  const checks: readonly { readonly name: string }[] = JSON.parse(stdout).checks;
  return checks.find(({ name }) => name === "own certificates");
}
