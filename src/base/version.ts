import { version } from "../../package.json" with { type: "json" };
import project from "../../project.json" with { type: "json" };

export const VERSION: string = version;
/** The page about the program, part of the user agent; null until the owner has one. */
export const HOME_PAGE: string | null = project.homepage;
