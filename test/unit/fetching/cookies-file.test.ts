import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { readCookiesFile } from "../../../src/fetching/index.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

function read(text: string) {
  using directory = temporaryDirectory();
  const path = join(directory.path, "cookies.txt");
  writeFileSync(path, text);
  return readCookiesFile(path);
}

test("a file as curl writes it", () => {
  const text = `# Netscape HTTP Cookie File
# https://curl.se/docs/http-cookies.html

.h.test\tTRUE\t/\tTRUE\t1893456000\tid\t7
#HttpOnly_h.test\tFALSE\t/a\tFALSE\t0\tkey\ta=b; c\r
www.h.test\tTRUE\t/\tFALSE\t1893456000.5\tempty
`;
  const common = { sameSite: "Lax" } as const;
  expect(read(text)).toEqual([
    {
      ...common,
      name: "id",
      value: "7",
      domain: ".h.test",
      path: "/",
      expires: 1893456000,
      httpOnly: false,
      secure: true,
    },
    {
      ...common,
      name: "key",
      value: "a=b; c",
      domain: "h.test",
      path: "/a",
      expires: -1,
      httpOnly: true,
      secure: false,
    },
    {
      ...common,
      name: "empty",
      value: "",
      domain: ".www.h.test",
      path: "/",
      expires: 1893456000.5,
      httpOnly: false,
      secure: false,
    },
  ]);
});

test("every cookie that is written is read", () => {
  const word = fc.stringMatching(/^[a-z0-9]{1,9}$/);
  const cookie = fc.record({
    name: word,
    value: word,
    domain: word,
    isForAll: fc.boolean(),
    secure: fc.boolean(),
    expires: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(cookie), (cookies) => {
      const shout = (is: boolean): string => String(is).toUpperCase();
      const lines = cookies.map(({ name, value, domain, isForAll, secure, expires }) =>
        [domain, shout(isForAll), "/", shout(secure), expires, name, value].join("\t"),
      );
      expect(read(lines.join("\n"))).toMatchObject(
        cookies.map(({ name, value, domain, isForAll, secure }) => ({
          name,
          value,
          secure,
          domain: isForAll ? `.${domain}` : domain,
        })),
      );
    }),
    { numRuns: 50 },
  );
});

test("another file is refused by its line, which is not shown", () => {
  for (const text of ['{"cookies": []}', "h.test\tTRUE\t/\tTRUE\tsoon\tid\tsecret", "id=secret"])
    expect(() => read(`\n${text}\n`)).toThrow(
      /cookies\.txt holds no cookies in Netscape's format: line 2 has not 7 fields/,
    );
  expect(() => read("id=secret")).not.toThrow("secret");
  expect(() => readCookiesFile("/nowhere/cookies.txt")).toThrow(
    "the cookies /nowhere/cookies.txt cannot be read",
  );
});
