import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { COMPILER_VARIABLES } from "../../bin/compilers.ts";
import { compileEntry } from "./bench.ts";

/** The extractors that can be measured beside ours, in their newest versions at the time. */
export const PEERS = ["readability", "defuddle", "trafilatura", "resiliparse", "crawl4ai"] as const;
export type Peer = (typeof PEERS)[number];

const NPM_PACKAGES = { defuddle: "0.19.4", linkedom: "0.18.14" };
const PIP_PACKAGES = {
  // trafilatura needs justext, which asks for an extra of lxml that newer versions no longer have.
  trafilatura: ["trafilatura==2.3.1", "lxml_html_clean==0.4.6"],
  resiliparse: ["resiliparse==2.0.1"],
  crawl4ai: ["crawl4ai==0.9.5"],
  scrapy: ["scrapy==2.19.0", "trafilatura==2.3.1", "lxml_html_clean==0.4.6"],
  tantivy: ["tantivy==0.27.0"],
  markitdown: ["markitdown[all]==0.1.9"],
  "trafilatura-server": [
    "fastapi==0.163.2",
    "uvicorn",
    "httpx",
    "trafilatura==2.3.1",
    "lxml_html_clean==0.4.6",
  ],
} as const;
type PythonPeer = keyof typeof PIP_PACKAGES;

/** The command of a contender's process, given its job as JSON. */
export type ContenderCommand = (job: string) => readonly string[];

/** Compiles the product's extraction into the scratch folder, with the product's settings. */
export async function prepareOurs(scratch: string): Promise<ContenderCommand> {
  const outfile = join(scratch, "extraction-entry");
  await compileEntry(join(import.meta.dir, "extraction-entry.ts"), outfile);
  // A list of pages runs with these compilers, which the program chooses for itself when it starts.
  const compilers = COMPILER_VARIABLES.long.join("=");
  return (job) => ["env", compilers, outfile, job];
}

/** Installs a peer into the scratch folder, never into the repository. */
export async function preparePeer(peer: Peer, scratch: string): Promise<ContenderCommand> {
  if (peer in PIP_PACKAGES) {
    const python = await installPython(peer as PythonPeer, scratch); // `in` does not narrow
    return (job) => [python, join(import.meta.dir, "peers", "extraction_peer.py"), peer, job];
  }
  // Readability is one of the project's own packages.
  if (peer !== "readability") await installNpmPeers(scratch);
  return (job) => [process.execPath, join(import.meta.dir, "peers", `${peer}.ts`), job, scratch];
}

async function installNpmPeers(scratch: string): Promise<void> {
  // All share one linkedom: the classes of a second copy would be different ones.
  const manifest = {
    private: true,
    dependencies: NPM_PACKAGES,
    overrides: { linkedom: NPM_PACKAGES.linkedom },
  };
  await mkdir(scratch, { recursive: true });
  await Bun.write(join(scratch, "package.json"), JSON.stringify(manifest));
  await run([process.execPath, "install", "--ignore-scripts", "--silent"], scratch);
}

/**
 * Installs a program for Python into a virtual environment of its own in the scratch folder.
 * @returns its Python
 */
export async function installPython(peer: PythonPeer, scratch: string): Promise<string> {
  const venv = join(scratch, `venv-${peer}`);
  const python = join(venv, "bin", "python");
  await mkdir(scratch, { recursive: true });
  if (!(await Bun.file(python).exists())) await run(["python3", "-m", "venv", venv], scratch);
  const install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  await run([...install, ...PIP_PACKAGES[peer]], scratch);
  return python;
}

/** @throws Error when the command cannot be started or its exit code is not 0 */
export async function run(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn({ cmd: [...command], cwd, stdio: ["ignore", "inherit", "inherit"] });
  const exitCode = await child.exited;
  if (exitCode !== 0)
    throw new Error(`${command.slice(0, 2).join(" ").slice(0, 200)} … ended with exit code ${exitCode}`);
}
