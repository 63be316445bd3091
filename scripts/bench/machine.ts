import { arch, cpus, platform, release, totalmem } from "node:os";

/** What a number depends on besides the code: names the machine without identifying it. */
export function describeMachine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() || "unknown processor";
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return `${processors.length} × ${model}, ${memoryGiB} GiB, ${platform()} ${release()} ${arch()}, Bun ${Bun.version}`;
}

/** The commit that was measured, with `+changes` when files differ from it; `unknown` outside of git. */
export async function describeCommit(directory: string): Promise<string> {
  const git = (...argv: string[]) => Bun.$`git ${argv}`.cwd(directory).quiet().nothrow().text();
  const commit = (await git("rev-parse", "--short", "HEAD")).trim();
  if (commit === "") return "unknown";
  const changed = (await git("status", "--porcelain", "--untracked-files=no")).trim() !== "";
  return changed ? `${commit}+changes` : commit;
}
