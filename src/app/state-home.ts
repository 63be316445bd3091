import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../settings/index.ts";

/** A server's directory in the XDG state directory of the program (XDG Base Directory Specification 0.8). */
export const stateHome = ({ XDG_STATE_HOME }: Environment, server: "extractor" | "search"): string =>
  join(XDG_STATE_HOME || join(homedir(), ".local/state"), "article-extractor", server);
