import { arch, cpus, platform, release, totalmem } from "node:os";

/** What a number depends on besides the code: the kind of machine, but not which one it is. */
export function describeMachine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() || "unknown processor";
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return `${processors.length} × ${model}, ${memoryGiB} GiB, ${platform()} ${release()} ${arch()}, Bun ${Bun.version}`;
}

/** The measured commit, with `+changes` when files differ from it; `unknown` outside git. */
export async function describeCommit(directory: string): Promise<string> {
  const git = (...argv: string[]) => Bun.$`git ${argv}`.cwd(directory).quiet().nothrow().text();
  const commit = (await git("rev-parse", "--short", "HEAD")).trim();
  if (commit === "") return "unknown";
  const changed = (await git("status", "--porcelain", "--untracked-files=no")).trim() !== "";
  return changed ? `${commit}+changes` : commit;
}
