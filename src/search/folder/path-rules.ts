/** Patterns that choose among the files of a folder or repository; `docs/tenants.md` explains them. */
export type PathRules = {
  /** When not empty, a file or a folder above it must match one of these. */
  readonly include: readonly string[];
  /** What matches one of these is left out, unless a later one that begins with `!` takes it back. */
  readonly exclude: readonly string[];
};

/** What is excluded before a tenant's own patterns: other people's files, and copies that tools make. */
export const DEFAULT_EXCLUDED: readonly string[] = [
  "node_modules/",
  "bower_components/",
  "jspm_packages/",
  "vendor/",
  "third_party/",
  "site-packages/",
  "venv/",
  "__pycache__/",
  // Sphinx copies the sources of its pages there.
  "_sources/",
];

/** Decides about paths; those above a path are decided about before. */
export interface PathFilter {
  /** Why a file or folder is left out; null when it is not. */
  refuse(path: string, isFolder: boolean): "hidden" | "excluded" | "not_included" | null;
}

/**
 * Compiles the rules. A pattern without a slash matches a name at any depth, one that ends in a slash only
 * folders. Matching takes time linear in the path.
 * @param rules null leaves out hidden names only
 */
export function compilePathRules(rules: PathRules | null): PathFilter {
  const exclude = rules === null ? [] : [...DEFAULT_EXCLUDED, ...rules.exclude].map(compile);
  const include = (rules?.include ?? []).map(compile);
  return {
    refuse(path, isFolder) {
      if (isHidden(path.slice(path.lastIndexOf("/") + 1))) return "hidden";
      const plain = path.normalize("NFC");
      if (exclude.findLast((pattern) => pattern.matches(plain, isFolder))?.isNegated === false)
        return "excluded";
      if (isFolder || include.length === 0) return null;
      return include.some((pattern) => matchesAbove(pattern, plain)) ? null : "not_included";
    },
  };
}

/** `.` and `..` are no names that a disk has, only ones that a hostile repository has. */
const isHidden = (name: string): boolean => name.startsWith(".") && name !== "." && name !== "..";

type Pattern = {
  readonly isNegated: boolean;
  matches(path: string, isFolder: boolean): boolean;
};

function compile(written: string): Pattern {
  const isNegated = written.startsWith("!");
  const bare = written.slice(isNegated ? 1 : 0).normalize("NFC");
  const inner = bare.replace(/^\/|\/$/g, "");
  const isAnchored = inner.includes("/") || bare.startsWith("/");
  const glob = new Bun.Glob(isAnchored ? inner : `**/${inner}`);
  const wantsFolder = bare.endsWith("/");
  return { isNegated, matches: (path, isFolder) => (isFolder || !wantsFolder) && glob.match(path) };
}

/** Whether a pattern matches a file, or a folder that it is in. */
function matchesAbove(pattern: Pattern, path: string): boolean {
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1))
    if (pattern.matches(path.slice(0, end), true)) return true;
  return pattern.matches(path, false);
}
