import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { Failure } from "../../base/failure.ts";

export type FindBrowserOptions = {
  /**
   * The operator's choice (`ARTICLE_EXTRACTOR_BROWSER_PATH`), or null without one; `none` switches the search
   * off.
   */
  readonly explicit: string | null;
  /** The value of PATH. */
  readonly searchPath: string;
  /** The platform in the words of `process.platform`. */
  readonly platform: string;
  /** The person's home directory, for browsers that are installed for one user. */
  readonly home: string;
};

/**
 * Finds the Chromium, Chrome or Edge of this machine: the named one, else the first on PATH, else the first
 * in the system's usual places. Nothing is ever downloaded.
 * @returns the executable's path, null when there is none
 * @throws Failure `invalid_settings` when the named one cannot be run
 */
export function findBrowser(options: FindBrowserOptions): string | null {
  const { explicit, platform } = options;
  if (explicit === NONE) return null;
  if (explicit !== null) {
    if (isExecutable(explicit)) return explicit;
    throw new Failure(
      "invalid_settings",
      `ARTICLE_EXTRACTOR_BROWSER_PATH: ${JSON.stringify(explicit)} is no program that can be run`,
    );
  }
  const names = platform === "win32" ? [] : COMMANDS;
  // A relative entry depends on the working directory, which may be a hostile checkout that holds a browser.
  const directories = options.searchPath.split(delimiter).filter(isAbsolute);
  const onPath = names.flatMap((name) => directories.map((directory) => join(directory, name)));
  return [...onPath, ...placesOf(options)].find(isExecutable) ?? null;
}

/** To run a program that is called "none", write `./none`. */
const NONE = "none";

// Chromium comes first: a server has it when somebody installed a browser for this purpose.
const COMMANDS = [
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
  "microsoft-edge-stable",
  "microsoft-edge",
  "headless_shell",
  "chrome",
];

function placesOf({ platform, home }: FindBrowserOptions): string[] {
  if (platform === "darwin") {
    const apps = ["Chromium", "Google Chrome", "Microsoft Edge"];
    return ["/Applications", join(home, "Applications")].flatMap((folder) =>
      apps.map((app) => join(folder, `${app}.app`, "Contents/MacOS", app)),
    );
  }
  if (platform === "win32") {
    const programs = ["Google\\Chrome\\Application\\chrome.exe", "Microsoft\\Edge\\Application\\msedge.exe"];
    const roots = ["C:\\Program Files", "C:\\Program Files (x86)", `${home}\\AppData\\Local`];
    return roots.flatMap((root) => programs.map((program) => `${root}\\${program}`));
  }
  return [
    "/usr/lib/chromium/chromium",
    "/snap/bin/chromium",
    "/opt/google/chrome/chrome",
    "/opt/microsoft/msedge/msedge",
    "/var/lib/flatpak/exports/bin/org.chromium.Chromium",
  ];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
