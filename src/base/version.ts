import manifest from "../../package.json" with { type: "json" };

export const VERSION: string = manifest.version;
/** The page about the program; part of the user agent. */
export const HOME_PAGE: string = manifest.homepage;
