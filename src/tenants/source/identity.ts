import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { TenantSettings } from "../settings.ts";

/** Returns the identity of a source: its kind, and its folder, its repository or its sites. */
export function sourceOf(settings: TenantSettings): readonly string[] {
  if (settings.source === "filesystem") return [settings.source, realPathOf(settings.rootDir)];
  if (settings.source === "git") return [settings.source, repositoryOf(settings.repositoryUrl)];
  return [
    settings.source,
    ...sitesOf([...settings.entryUrls, ...settings.sitemapUrls, ...settings.allowPrefixes]),
  ];
}

/** A repository by its address or path. */
export const repositoryOf = (url: string): string => url.replace(/(?<!\/)\/+$/, "").replace(/\.git$/, "");

/** The sites of addresses, whatever their schemes. */
export const sitesOf = (urls: readonly string[]): readonly string[] =>
  [...new Set(urls.map((url) => new URL(url).host.replace(/^www\./, "")))].sort();

/** A site that is added to others leaves the source what it is. */
export const isSameSource = (
  [kind, ...places]: readonly string[],
  [otherKind, ...others]: readonly string[],
): boolean => kind === otherKind && places.some((place) => others.includes(place));

/** The path without links; of what is not there yet, that of the folder that it will be in. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
