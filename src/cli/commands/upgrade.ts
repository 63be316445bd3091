import { existsSync, realpathSync } from "node:fs";
import { DEFAULT_NETWORK } from "../../app/index.ts";
import { Failure } from "../../base/failure.ts";
import { latestAddress, VERSION } from "../../base/version.ts";
import type { StreamFetcher } from "../../fetching/index.ts";
import { parsePageUrl } from "../../urls/index.ts";
import { wrongUsage } from "../io.ts";
import { openCommandApp } from "../program.ts";
import { partsOf, type Run, requireNoArguments } from "../shell.ts";
import { installationOf } from "./installation.ts";

/** A check that failed. */
const UNKNOWN = 1;
const IS_OUTDATED = 3;
const MAX_ANSWER_BYTES = 1_000_000;
const DEADLINE_MS = 30_000;

/**
 * Runs `upgrade --check`; returns 0 for the newest version, 3 when there is a newer one, 1 when nobody is there to ask.
 */
export const upgrade: Run = async (shell) => {
  const { typed, io } = shell;
  requireNoArguments(typed);
  if (!typed.has("check"))
    throw wrongUsage("upgrade only looks whether there is a newer version: type upgrade --check");
  const address = latestAddress();
  if (address === null) {
    shell
      .openNotices(io)
      .error(
        `whether there is a newer version than ${VERSION} cannot be asked: this copy was built without an address for that ("latest" in project.json); look where you got it`,
      );
    return UNKNOWN;
  }
  const { app } = await openCommandApp(partsOf(shell));
  await using _ = app;
  await using session = app.openSession(DEFAULT_NETWORK);
  const latest = await askForLatest(address, session.http, io.signal);
  const isOutdated = Bun.semver.order(latest, VERSION) > 0;
  const { kind, command } = installationOf(realpathSync(process.execPath), latest, existsSync);
  const text = isOutdated
    ? `article-extractor ${latest} is there; this is ${VERSION}. To upgrade:\n  ${command}\n`
    : `article-extractor ${VERSION} is the newest version.\n`;
  const report = {
    version: VERSION,
    latest,
    is_outdated: isOutdated,
    installed_with: kind,
    upgrade_command: command,
  };
  await io.stdout.write(typed.has("json") ? `${JSON.stringify(report, null, 2)}\n` : text);
  return isOutdated ? IS_OUTDATED : 0;
};

/** A version by semantic versioning, without build metadata. */
const VERSION_FORM = /^v?(\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[\dA-Za-z.-]{1,64})?)$/;

/**
 * Asks which version is the newest one.
 * @param address answers with JSON, `{"tag_name": "v1.2.3"}` or `{"version": "1.2.3"}`
 * @throws Failure of a fetcher; `http_status`, or `unsupported_content` when the answer names no version
 */
async function askForLatest(address: string, http: StreamFetcher, signal: AbortSignal): Promise<string> {
  const url = parsePageUrl(address);
  if (url === null) throw new Failure("invalid_url", `"latest" in project.json is not an http or https URL`);
  const answer = await http.fetchStream(url, {
    signal,
    purpose: "feed",
    deadlineMs: DEADLINE_MS,
    tries: 2,
  });
  const asked = `asking ${url} for the newest version`;
  if (answer.status !== 200) {
    await answer.body.cancel();
    throw new Failure("http_status", `${asked} was answered with HTTP ${answer.status}`);
  }
  const version = versionIn(await readStart(answer.body, asked));
  if (version === null)
    throw new Failure(
      "unsupported_content",
      `${asked} was answered without a version in "tag_name" or "version"`,
    );
  return version;
}

async function readStart(body: ReadableStream<Uint8Array>, asked: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new Failure("too_large", `${asked} was answered with more than ${MAX_ANSWER_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function versionIn(text: string): string | null {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof answer !== "object" || answer === null) return null;
  const named = "tag_name" in answer ? answer.tag_name : "version" in answer ? answer.version : null;
  return (typeof named === "string" && VERSION_FORM.exec(named)?.[1]) || null;
}
