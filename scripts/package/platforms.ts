/** A platform that the program is built for, and how each installer names it. */
export type Platform = {
  /** Part of the names of its files and packages. */
  readonly name: string;
  readonly os: "linux" | "darwin" | "windows";
  readonly cpu: "x64" | "arm64";
  readonly libc: "glibc" | "musl" | null;
};

const platform = (os: Platform["os"], cpu: Platform["cpu"], libc: Platform["libc"] = null): Platform => ({
  name: `${os}-${cpu}${libc === "musl" ? "-musl" : ""}`,
  os,
  cpu,
  libc,
});

export const PLATFORMS: readonly Platform[] = [
  platform("linux", "x64", "glibc"),
  platform("linux", "arm64", "glibc"),
  platform("linux", "x64", "musl"),
  platform("linux", "arm64", "musl"),
  platform("darwin", "x64"),
  platform("darwin", "arm64"),
  platform("windows", "x64"),
];

/** The name of the program inside a package. */
export const programName = ({ os }: Platform): string => `article-extractor${os === "windows" ? ".exe" : ""}`;
