import { expect, test } from "bun:test";
import { withoutPaths } from "../../../src/server/api/search/routes.ts";

test.each([
  ["could not read /srv/docs/handbook/a.md: no such file", "could not read …/a.md: no such file"],
  ["'/srv/docs' is no folder", "'…/docs' is no folder"],
  ["could not write file:///srv/store/a: full", "could not write file://… full"],
  [
    "GET https://docs.example.org/a/b answered HTTP 404",
    "GET https://docs.example.org/a/b answered HTTP 404",
  ],
  ["Tenant 'tool' has no document docs://tool/a/b.md", "Tenant 'tool' has no document docs://tool/a/b.md"],
  ["either this and/or that, at 3/4", "either this and/or that, at 3/4"],
])("%p is shown to callers with a limited key as %p", (message, shown) => {
  expect(withoutPaths({ code: "unreadable_input", message })).toEqual({
    code: "unreadable_input",
    message: shown,
  });
});
