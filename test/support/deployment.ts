import { Failure } from "../../src/base/failure.ts";
import { type Deployment, readDeployment } from "../../src/settings/index.ts";

/** Reads a file that stands in /srv/docs. */
export const readJson = (json: unknown): Deployment =>
  readDeployment(typeof json === "string" ? json : JSON.stringify(json), {
    name: "d.json",
    directory: "/srv/docs",
  });

/** What is wrong with a file that is refused. */
export function problemsOf(json: unknown): string[] {
  try {
    readJson(json);
    return [];
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "invalid_settings") throw error;
    return error.message.split("\n").map((line) => line.replace(/^d\.json: /, ""));
  }
}

export const folder = {
  source_type: "filesystem",
  codename: "docs",
  docs_name: "Docs",
  docs_root_dir: "docs",
};
export const web = {
  source_type: "online",
  codename: "web",
  docs_name: "Web",
  docs_root_dir: "web",
  docs_entry_url: "https://docs.example.org/",
};
export const repository = {
  source_type: "git",
  codename: "repo",
  docs_name: "Repo",
  docs_root_dir: "repo",
  git_repo_url: "https://git.example.org/a/b.git",
  git_subpaths: ["docs"],
};
export const tenants = (...list: object[]): object => ({ tenants: list });

/** A folder of the tenant's name. */
export const folderTenant = (codename: string, more: object = {}): object => ({
  source_type: "filesystem",
  codename,
  docs_name: codename,
  docs_root_dir: codename,
  ...more,
});
