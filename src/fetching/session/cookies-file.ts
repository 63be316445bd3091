import { readFileSync } from "node:fs";
import { Failure } from "../../base/failure.ts";
import { systemReason } from "../../base/system-error.ts";
import type { StoredCookie } from "./cookies.ts";

/** Marks cookies in the file that scripts of a page cannot read; the line is a comment to programs that do not know it. */
const HTTP_ONLY = "#HttpOnly_";
const FIELDS = 7;

/**
 * Reads the cookies of a file in Netscape's format (cookies.txt), which curl, wget and extensions of browsers write: a
 * cookie a line, of seven fields with tabs between.
 * @throws Failure `unreadable_input` that names the line, and nothing that it holds
 */
export function readCookiesFile(path: string): StoredCookie[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new Failure("unreadable_input", `the cookies ${path} cannot be read: ${systemReason(cause)}`, {
      cause,
    });
  }
  return text.split(/\r?\n/).flatMap((line, index) => {
    const written = line.startsWith(HTTP_ONLY) ? line.slice(HTTP_ONLY.length) : line;
    if (written.trim() === "" || written.startsWith("#")) return [];
    const cookie = cookieOf(written, line.startsWith(HTTP_ONLY));
    if (cookie !== null) return [cookie];
    throw new Failure(
      "unreadable_input",
      `${path} holds no cookies in Netscape's format: line ${index + 1} has not ${FIELDS} fields with tabs between; --storage-state reads Playwright's JSON`,
    );
  });
}

function cookieOf(line: string, httpOnly: boolean): StoredCookie | null {
  const [domain = "", isForAll, path = "", isSecure, expires = "", name = "", value = "", ...more] =
    line.split("\t");
  // Some programs leave out the tab before an empty value.
  if (
    domain === "" ||
    !path.startsWith("/") ||
    !/^\d+(?:\.\d+)?$/.test(expires) ||
    name === "" ||
    more.length > 0
  )
    return null;
  const bare = domain.replace(/^\./, "");
  return {
    name,
    value,
    domain: isForAll === "TRUE" ? `.${bare}` : bare,
    path,
    // Zero stands for a cookie of the browser's session.
    expires: Number(expires) || -1,
    httpOnly,
    secure: isSecure === "TRUE",
    sameSite: "Lax",
  };
}
