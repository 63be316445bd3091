/**
 * Asks npm and PyPI whose the package names of project.json are, through npm and pip as this machine has them set up:
 * `make check-names`. It ends with 0 when every name is free or ours, 1 when one is somebody else's, and 3 when a registry
 * could not be asked and no name is known to be somebody else's.
 */
import project from "../project.json" with { type: "json" };
import { npmPackages } from "./package/npm.ts";

const PATIENCE_S = 30;

type Owner = { readonly [Name in "npm_package" | "pypi_package"]: string } & {
  readonly [Name in "published" | "repository" | "homepage"]: string | null;
};
type Verdict = { readonly state: "free" | "ours" | "foreign" | "unknown"; readonly why: string };
type NamedVerdict = Verdict & { readonly registry: "npm" | "PyPI"; readonly name: string };

const FREE: Verdict = { state: "free", why: "" };
const unknown = (why: string): Verdict => ({ state: "unknown", why });

/**
 * Asks for every name that a release has.
 * @param env with the settings of npm and pip
 * @param names those of the packages for npm
 */
export async function checkNames(
  owner: Owner,
  env = process.env,
  names = npmPackages(owner),
): Promise<readonly NamedVerdict[]> {
  const ask = (command: readonly string[]) => answerOf(command, env);
  const { pypi_package: wheel } = owner;
  return await Promise.all([
    ...names.map(async (name) => ({ registry: "npm", name, ...(await askNpm(name, owner, ask)) }) as const),
    askPyPi(wheel, owner, ask).then((verdict) => ({ registry: "PyPI", name: wheel, ...verdict }) as const),
  ]);
}

/** What a registry has under a name is ours when it has the version that we published, and that names our address. */
function judge(versions: readonly string[], addresses: readonly string[], owner: Owner): Verdict {
  const { published, repository, homepage } = owner;
  const there = `${versions.at(-1) ?? "something"} is there`;
  const own = [repository, homepage].flatMap((address) => (address === null ? [] : bare(address)));
  if (published === null)
    return { state: "foreign", why: `${there}, and project.json says that nothing is published` };
  if (!versions.includes(published)) return { state: "foreign", why: `${there}, and not our ${published}` };
  if (!addresses.some((address) => own.includes(bare(address))))
    return { state: "foreign", why: `${published} is there, and does not name our address` };
  return { state: "ours", why: published };
}

const bare = (address: string): string => address.replace(/^git\+/, "").replace(/(?:\.git)?\/?$/, "");

type Ask = (command: readonly string[]) => Promise<{ readonly stdout: string; readonly said: string } | null>;

/** Runs a client; returns what it wrote, and null where the machine does not have it. */
async function answerOf(command: readonly string[], env: typeof process.env): ReturnType<Ask> {
  try {
    const child = Bun.spawn([...command], { env, stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { stdout, said: `${stdout}${stderr}` };
  } catch {
    return null;
  }
}

const read = (text = ""): Record<string, unknown> => {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
};
const texts = (...values: readonly unknown[]): readonly string[] =>
  values.flat().filter((value) => typeof value === "string");

async function askNpm(name: string, owner: Owner, ask: Ask): Promise<Verdict> {
  const patience = ["--fetch-retries=0", `--fetch-timeout=${PATIENCE_S * 1000}`];
  const answer = await ask(["npm", "view", name, "--json", ...patience]);
  if (answer === null) return unknown("npm is not on this machine");
  const { error, versions, repository, homepage } = read(answer.stdout);
  const { code = "no JSON" } = Object(error);
  if (code === "E404") return FREE;
  if (versions === undefined) return unknown(`npm got no answer (${code})`);
  return judge(texts(versions), texts(Object(repository).url, homepage), owner);
}

/** pip says the same of a name that nobody has and of a registry that is away; only at length it says which. */
async function askPyPi(name: string, owner: Owner, ask: Ask): Promise<Verdict> {
  const pip = Bun.which("pip") === null ? ["python3", "-m", "pip"] : ["pip"];
  const patience = ["--retries=0", `--timeout=${PATIENCE_S}`, "--disable-pip-version-check"];
  const answer = await ask([...pip, "index", "versions", name, "-vv", ...patience]);
  if (answer === null) return unknown("pip is not on this machine");
  const listed = /^Available versions: (.+)$/m.exec(answer.said)?.[1];
  if (listed === undefined) {
    if (answer.said.includes("404 Client Error")) return FREE;
    const reason = /connection error|\d{3} (?:Client|Server) Error|No module named pip/.exec(
      answer.said,
    )?.[0];
    return unknown(`pip got no answer (${reason ?? answer.said.trim().split("\n").at(-1)})`);
  }
  const versions = listed.split(", ").reverse();
  if (owner.published === null || !versions.includes(owner.published)) return judge(versions, [], owner);
  const report = ["--dry-run", "--ignore-installed", "--no-deps", "--only-binary=:all:", "--quiet"];
  const wheel = `${name}==${owner.published}`;
  const found = await ask([...pip, "install", ...report, "--report=-", ...patience, wheel]);
  const [{ metadata = {} } = {}] = Object(read(found?.stdout).install ?? []);
  const addresses = texts(metadata.project_url, metadata.home_page).map((url) => url.replace(/^.*, /, ""));
  return judge(versions, addresses, owner);
}

/** The exit code for these answers: 1 when a name is somebody else's, else 3 when one could not be asked for. */
export function exitCodeFor(verdicts: readonly Verdict[]): number {
  const has = (state: Verdict["state"]): boolean => verdicts.some((verdict) => verdict.state === state);
  return has("foreign") ? 1 : has("unknown") ? 3 : 0;
}

if (import.meta.main) {
  const verdicts = await checkNames(project);
  const width = Math.max(...verdicts.map(({ name }) => name.length));
  for (const { registry, name, state, why } of verdicts)
    console.log(`${registry.padEnd(4)} ${name.padEnd(width)} ${state}${why && `: ${why}`}`);
  process.exitCode = exitCodeFor(verdicts);
  if (verdicts.some(({ state }) => state === "unknown"))
    console.error(
      "error: not every name could be asked for: look at npm, pip and the network, and ask again",
    );
}
