import { Failure } from "../base/failure.ts";
import { didYouMeanAny } from "../base/nearest.ts";

/** The library and version that a tenant documents; null without a library, or without a particular version. */
type Documented = {
  readonly codename: string;
  readonly library: string | null;
  readonly version: string | null;
};

/** The tenants of a version of a library. */
export type LibraryChoice = {
  /** At least one; several when they document the same version. */
  readonly codenames: readonly string[];
  /** The choice in words, for example `react 18.2, the nearest not above 18.2.5`. */
  readonly resolved: string;
};

/**
 * Chooses the tenants of a library's nearest version that is not above the wanted version; if all are above, the lowest
 * version. A wanted version with fewer than three numbers (`18`, `18.2`, `18.x`) includes its last release, unless a
 * tenant has it as written; a tenant's short version begins with its first pre-release. Pre-releases come before their
 * release. Tenants without a version are chosen when no version is wanted, and when there are no others.
 * @param library as package managers write it, in PyPI's sense of equal names; a scope, a path and Go's `/v2` may be
 *   left out
 * @param version null and `latest` want the newest release
 * @throws Failure `unknown_tenant` that names the nearest libraries; `invalid_usage` for an invalid version
 */
export function chooseVersion(
  tenants: readonly Documented[],
  library: string,
  version: string | null,
): LibraryChoice {
  const found = requireLibrary(tenants, library);
  const wanted =
    version === null || version.trim().toLowerCase() === "latest" ? null : requireVersion(version);
  const ordered = found
    .flatMap((tenant) => (tenant.version === null ? [] : { tenant, ...requireVersion(tenant.version) }))
    .sort((a, b) => compare(a.first, b.first));
  const unversioned = found.filter((tenant) => tenant.version === null);
  if (ordered.length === 0 || (wanted === null && unversioned.length > 0))
    return {
      codenames: codenamesOf(unversioned),
      resolved: `${found[0]!.library}, of no version in particular`,
    };
  const { best, why } = nearestOf(ordered, wanted);
  const equal = ordered.filter(({ first }) => compare(first, best.first) === 0);
  return {
    codenames: codenamesOf(equal.map(({ tenant }) => tenant)),
    resolved: `${best.tenant.library} ${best.tenant.version}${why}`,
  };
}

/** A package of a lock file. */
export type LockedPackage = {
  readonly name: string;
  /** As written; what is no version, such as an address, is left out. */
  readonly version: string;
  /** How far from the project: 0 for what it names itself, then what its dependencies bring. */
  readonly rank: number;
};

/**
 * Chooses the tenants of every library that is locked, each as `chooseVersion` does. Of several versions of a library
 * the highest of those nearest to the project counts. Names are compared in full, but Go's `/v2` may be left out.
 * @param library the only one that is wanted; null for all
 * @throws Failure `unknown_tenant` for a library that no tenant has
 */
export function chooseLocked(
  tenants: readonly Documented[],
  packages: Iterable<LockedPackage>,
  library: string | null,
): readonly LibraryChoice[] {
  const wanted = library === null ? tenants : requireLibrary(tenants, library);
  const libraries = new Map(
    wanted.flatMap((one) => (one.library ? [[lockedKey(one.library), one.library]] : [])),
  );
  const nearest = new Map<string, LockedPackage & Version>();
  for (const locked of packages) {
    const key = lockedKey(locked.name);
    const version = libraries.has(key) ? readVersion(locked.version.trim()) : null;
    if (version === null) continue;
    const best = nearest.get(key);
    if (!best || (locked.rank - best.rank || compare(best.first, version.first)) < 0)
      nearest.set(key, { ...locked, ...version });
  }
  return [...libraries].flatMap(([key, name]) => {
    const locked = nearest.get(key);
    return locked ? chooseVersion(tenants, name, locked.text) : [];
  });
}

const lockedKey = (library: string): string => fullKey(library).replace(GO_MAJOR, "");

const codenamesOf = (tenants: readonly Documented[]): string[] => tenants.map(({ codename }) => codename);

type Version = {
  readonly text: string;
  /** The lowest that the text can mean, and the highest. */
  readonly first: Release;
  readonly last: Release;
};

/** `build` orders what is equal to SemVer; it is a pre-release of 0.0.0, because the runtime compares no build metadata. */
type Release = { readonly semver: string; readonly build: string };

const compare = (a: Release, b: Release): number =>
  Bun.semver.order(a.semver, b.semver) || Bun.semver.order(a.build, b.build);

/** @param ordered by `first`, with at least one */
function nearestOf<Known extends Version>(
  ordered: readonly Known[],
  wanted: Version | null,
): { readonly best: Known; readonly why: string } {
  if (wanted === null) {
    const released = ordered.findLast(({ last }) => !last.semver.includes("-"));
    return { best: released ?? ordered.at(-1)!, why: ", the newest" };
  }
  const same = ordered.findLast(({ first }) => compare(first, wanted.first) === 0);
  if (same) return { best: same, why: "" };
  const below = ordered.findLast(({ first }) => compare(first, wanted.last) <= 0);
  if (below) return { best: below, why: `, the nearest not above ${wanted.text}` };
  return { best: ordered[0]!, why: `, the lowest: all are above ${wanted.text}` };
}

const MAX_SHOWN = 100;
const MAX_QUERY = 1000;
/** The most characters of a version; some of Go's have 80. */
const MAX_VERSION = 100;
const HIGHEST = Number.MAX_SAFE_INTEGER;

/** Those that document a library; those of its full name alone, if there are any. */
function documentationOf(tenants: readonly Documented[], library: string): readonly Documented[] {
  const named = (key: (name: string) => string) =>
    tenants.filter((tenant) => tenant.library !== null && key(tenant.library) === key(library));
  const exact = named(fullKey);
  return exact.length > 0 ? exact : named(shortKey);
}

/** @throws Failure `unknown_tenant` */
function requireLibrary(tenants: readonly Documented[], library: string): readonly Documented[] {
  const found = documentationOf(tenants, library);
  if (found.length > 0) return found;
  const known = [...new Set(tenants.flatMap((tenant) => tenant.library ?? []))];
  const shown = library.slice(0, MAX_SHOWN);
  throw new Failure("unknown_tenant", `No tenant has the library '${shown}'${didYouMeanAny(shown, known)}`);
}

/**
 * Chooses tenants for a query that names a library and a version of it, as in `react 18.2`, `react@18.2` and
 * `python asyncio 3.12`; null for other queries.
 */
export function chooseMentioned(tenants: readonly Documented[], query: string): LibraryChoice | null {
  // A sign in front of a name is npm's scope; between a name and a version it separates them.
  const words = query.slice(0, MAX_QUERY).match(/@?[^\s@=<>~^,;:()"'?!]+/g) ?? [];
  const isLibrary = (name: string): boolean => documentationOf(tenants, name).length > 0;
  const pairs = words.slice(1).map((word, index) => `${words[index]}-${word}`);
  const place = [pairs.findIndex(isLibrary), words.findIndex(isLibrary)].find((index) => index >= 0);
  if (place === undefined) return null;
  const isVersion = (word: string): boolean => /^@?v?\d/i.test(word) && word.length <= MAX_VERSION;
  const version = words.slice(place + 1).find(isVersion) ?? words.find(isVersion);
  const library = isLibrary(pairs[place] ?? "") ? pairs[place] : words[place];
  return version === undefined || library === undefined
    ? null
    : chooseVersion(tenants, library, version.replace("@", ""));
}

// The rule of PEP 503.
const fullKey = (library: string): string =>
  library
    .trim()
    .toLowerCase()
    .replace(/[-_.]+/g, "-");

const GO_MAJOR = /\/v\d+$/;

/** Without npm's scope, the path of a Go module and its major version. */
const shortKey = (library: string): string => fullKey(library).replace(GO_MAJOR, "").replace(/^.*\//, "");

/** @throws Failure `invalid_usage` */
function requireVersion(text: string): Version {
  const version = readVersion(text.trim());
  if (version) return version;
  const shown = text.trim().slice(0, MAX_SHOWN);
  throw new Failure(
    "invalid_usage",
    `version must begin with a number, like 18.2.0, 18 or v2, and have at most ${MAX_VERSION} characters, not '${shown}'`,
  );
}

/**
 * Reads what npm, PyPI, Cargo and Go call a version, and the lower end of a range (`^18.2`). The fourth number and
 * `.post1` of PEP 440 order what is equal to SemVer; `1!` and `+local` are dropped.
 */
function readVersion(text: string): Version | null {
  if (text.length > MAX_VERSION) return null;
  const [, written, rest] = /^(?:[\s^~=<>v]|\d+!)*(\d+(?:\.\d+)*)(.*)$/is.exec(text) ?? [];
  if (written === undefined || rest === undefined) return null;
  const numbers = written.split(".").map((number) => Math.min(Number(number), HIGHEST));
  const [major = 0, minor = 0, patch = 0, ...more] = numbers;
  const [suffix = ""] = rest.split("+");
  const isOpen = numbers.length < 3 && /^(?:\.[x*])*$/i.test(suffix);
  const [, post] = /^[-._]?(?:post|rev|r)[-._]?(\d*)$/i.exec(suffix) ?? [];
  const parts = post === undefined ? more : [...more, 0, "post", Number(post)];
  const build = `0.0.0-${[0, ...parts].join(".")}`;
  const before = isOpen ? [0] : post === undefined ? preRelease(suffix) : [];
  const semver = `${major}.${minor}.${patch}${before.length > 0 ? "-" : ""}${before.join(".")}`;
  const first = { semver, build };
  if (!isOpen) return { text, first, last: first };
  return { text, first, last: { semver: [...numbers, HIGHEST, HIGHEST].slice(0, 3).join("."), build } };
}

/** `rc1` and `-rc.1` are equal; `.dev1` comes before `a1`, as in PEP 440. */
function preRelease(suffix: string): (string | number)[] {
  const parts = suffix.toLowerCase().match(/\d+|[a-z]+/g) ?? [];
  const identifiers = parts.map((part) => (/^\d/.test(part) ? Math.min(Number(part), HIGHEST) : part));
  return parts[0] === "dev" ? [0, ...identifiers] : identifiers;
}
