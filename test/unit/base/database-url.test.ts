import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkSchema, parseDatabaseUrl } from "../../../src/base/database-url.ts";

const messageOf = (url: string): string => {
  try {
    parseDatabaseUrl(url);
    return "";
  } catch (error) {
    expect(error).toMatchObject({ name: "Failure", code: "invalid_settings" });
    return (error as Error).message;
  }
};

describe("the URL of a database", () => {
  test("has every part that libpq reads, and shows neither user nor password", () => {
    const url = "postgresql://me:pass@db.example:6000/pages?sslmode=verify-full&sslrootcert=/etc/ca.pem";
    expect(parseDatabaseUrl(url)).toEqual({
      host: "db.example",
      port: 6000,
      database: "pages",
      user: "me",
      password: "pass",
      isTlsOptional: false,
      place: "db.example:6000/pages",
      parameters: { sslmode: "verify-full", sslrootcert: "/etc/ca.pem" },
    });
  });

  test("may name an IPv6 address, or the directory of a socket, and leaves out what has a default", () => {
    expect(parseDatabaseUrl("postgres://me@[::1]/a")).toMatchObject({
      host: "::1",
      port: 5432,
      place: "[::1]:5432/a",
    });
    expect(parseDatabaseUrl("postgres://me@%2Frun%2Fpostgresql/a")).toMatchObject({
      host: "/run/postgresql",
      password: "",
      isTlsOptional: true,
    });
  });

  test("may have any letters in user, password and database", () => {
    const part = fc
      .string({ unit: "binary", minLength: 1, maxLength: 40 })
      .filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(part, part, part, (user, password, database) => {
        const [a, b, c] = [user, password, database].map(encodeURIComponent);
        const parsed = parseDatabaseUrl(`postgres://${a}:${b}@host/${c}`);
        expect(parsed).toMatchObject({ user, password, database });
      }),
    );
  });

  test.each([
    ["", "it has to look like postgres://user:password@host:5432/database"],
    ["postgres", "it has to look like"],
    ["mysql://me:s3cret@host/a", "it has to look like"],
    ["https://me:s3cret@host/a", "it has to look like"],
    ["postgres://me:s3cret@host:99999/a", "it has to look like"],
    ["postgres://me:s3cret@one,two/a", "one host only"],
    ["postgres://me:s3cret@host:1,two:2/a", "it has to look like"],
    ["postgres://me:s3cret@host", "it names no database"],
    ["postgres://me:s3cret@host/", "it names no database"],
    ["postgres://host/a", "it names no user"],
    ["postgres://:s3cret@host/a", "it names no user"],
    ["postgres:///a", "it names no host"],
    ["postgres://me:s3cret%zz@host/a", "its password has a % that begins no escape"],
    ["postgres://me:s3#cret@host/a", ""],
    ["postgres://me:s3cret@host/a#b", "written %23"],
    [
      "postgres://me:s3cret@host/a?sslmode=verify",
      "sslmode is one of disable, prefer, require, verify-ca, verify-full",
    ],
    ["postgres://me:s3cret@host/a?ssl_mode=require", "it has no parameter ssl_mode; did you mean sslmode?"],
    ["postgres://me:s3cret@host/a?sslmode=disable&sslmode=require", "sslmode stands in it twice"],
    ["postgres://me:s3cret@host/a?sslcert=/c", "sslcert and sslkey go together"],
  ])("%p is refused with its reason and without its password", (url, reason) => {
    const message = messageOf(url);
    expect(message).toStartWith("not the URL of a PostgreSQL database: ");
    expect(message).toContain(reason);
    expect(message).not.toMatch(/s3|cret/);
  });

  test("is read or refused whatever it is, and no refusal shows the password", () => {
    const piece = fc.oneof(
      fc.constantFrom(..."postgres|://|@|:|/|?|#|%|%41|[|]|,|sslmode|=|&| ".split("|")),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        messageOf(text);
        const message = messageOf(`postgres://me:hushhush${encodeURIComponent(text)}@${text}`);
        expect(message).not.toContain("hushhush");
      }),
      { numRuns: 500 },
    );
  });
});

test("a schema has a name that needs no quotes", () => {
  for (const name of ["a", "_", "article_extractor", "a1", "a".repeat(40)])
    expect(() => checkSchema(name)).not.toThrow();
  for (const name of ["", "1a", "A", "a-b", "a b", 'a"b', "a;b", "ä", "pg_a", "a".repeat(41), "a\n"])
    expect(() => checkSchema(name)).toThrow("1 to 40 lower-case letters");
});
