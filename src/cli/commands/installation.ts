import { dirname, join } from "node:path";
import project from "../../../project.json" with { type: "json" };

/** How this copy of the program was installed, and the one line that upgrades it. */
export type Installation = { readonly kind: string; readonly command: string };

/**
 * Tells how the program was installed from the place where it lies.
 * @param program its path, without symbolic links
 * @param version the version to upgrade to
 * @param exists whether there is a file at a path
 */
export function installationOf(
  program: string,
  version: string,
  exists: (path: string) => boolean,
): Installation {
  const path = program.replaceAll("\\", "/");
  const { npm_package: npm, pypi_package: pypi } = project;
  const known = PLACES.find(([part]) => path.includes(part));
  if (known !== undefined) return { kind: known[1], command: known[2] };
  if (path.includes("/node_modules/")) {
    const consumer = path.slice(0, path.indexOf("/node_modules/"));
    const isLocal = exists(`${consumer}/package.json`);
    return { kind: "npm", command: `npm install ${isLocal ? "" : "--global "}${npm}@${version}` };
  }
  const directory = dirname(path);
  const python = PYTHONS.map((name) => join(directory, name)).find(exists);
  if (python !== undefined && path !== DEBIAN_PATH && !path.startsWith("/usr/local/"))
    return { kind: "pip", command: `${python} -m pip install --upgrade ${pypi}` };
  if (path === DEBIAN_PATH && exists("/var/lib/dpkg/info/article-extractor.list"))
    return { kind: "deb", command: downloadLine("deb", version) };
  return { kind: "file", command: downloadLine("file", version) };
}

const DEBIAN_PATH = "/usr/bin/article-extractor";
const PYTHONS = ["python", "python3", "python.exe"];

/** Folders of installers: a part of the path, the installer, and its line. */
const PLACES: readonly (readonly [part: string, kind: string, command: string])[] = [
  ["/_npx/", "npx", `npx ${project.npm_package}@latest`],
  ["/pipx/venvs/", "pipx", `pipx upgrade ${project.pypi_package}`],
  ["/uv/tools/", "uv", `uv tool upgrade ${project.pypi_package}`],
  ["/Cellar/", "homebrew", "brew upgrade article-extractor"],
  ["/scoop/apps/", "scoop", "scoop update article-extractor"],
  ["/nix/store/", "nix", "nix profile upgrade article-extractor"],
];

/** The line for a copy that no installer knows of, or only one that is given files. */
function downloadLine(kind: "deb" | "file", version: string): string {
  const downloads = project.downloads as string | null;
  if (downloads === null)
    return `get the new ${kind === "deb" ? "Debian package" : "program"} where you got this one`;
  const folder = downloads.replaceAll("{version}", version);
  if (kind === "file") return `curl -fsSL ${folder}/install.sh | sh`;
  const name = `article-extractor_${version.replace("-", "~")}_${process.arch === "arm64" ? "arm64" : "amd64"}.deb`;
  return `curl -fsSLO ${folder}/${name} && sudo apt-get install ./${name}`;
}
