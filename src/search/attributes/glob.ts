/** The most characters of a pattern. */
export const MAX_GLOB = 200;

/**
 * A test of paths, which begin with `/`. A pattern without `*`, `?`, `[` and `{` is the beginning of a path;
 * others match whole paths, as globs with `**`, and without a slash a name in any folder. Takes time linear in
 * the path.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const isAnchored = pattern.startsWith("/") || pattern.includes("://");
  if (!/[*?[{]/.test(pattern)) {
    const start = isAnchored ? pattern : `/${pattern}`;
    return (path) => path.startsWith(start);
  }
  const glob = new Bun.Glob(isAnchored ? pattern : pattern.includes("/") ? `/${pattern}` : `/**/${pattern}`);
  return (path) => glob.match(path);
}
