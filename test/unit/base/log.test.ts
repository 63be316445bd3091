import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  createLog,
  LOG_LEVELS,
  type LogFields,
  type LogFormat,
  type LogLevel,
} from "../../../src/base/log.ts";
import { silentLog } from "../../../src/base/silent-log.ts";

const NOON = new Date("2026-01-02T12:00:00.000Z");

function openLog(level: LogLevel, format: LogFormat = "json") {
  const lines: string[] = [];
  return { log: createLog({ level, format, write: (line) => lines.push(line), now: () => NOON }), lines };
}

describe("the log", () => {
  for (const [index, level] of LOG_LEVELS.entries()) {
    test(`at level ${level} writes it and everything more severe`, () => {
      const { log, lines } = openLog(level);
      for (const each of LOG_LEVELS) log[each](each);
      expect(lines.map((line) => JSON.parse(line).level)).toEqual(LOG_LEVELS.slice(index));
    });
  }

  test("writes JSON lines with a timestamp, level and message first", () => {
    const { log, lines } = openLog("info");
    log.info("extracted", { url: "https://h/", status: 200, ok: true, none: null, left_out: undefined });
    expect(lines).toEqual([
      '{"timestamp":"2026-01-02T12:00:00.000Z","level":"info","message":"extracted",' +
        '"url":"https://h/","status":200,"ok":true,"none":null}\n',
    ]);
  });

  test("writes text lines with quotes where a value has more than one word", () => {
    const { log, lines } = openLog("info", "text");
    log.warning("it failed", { url: "https://h/a=b", reason: 'said "no"', none: null, gone: undefined });
    expect(lines).toEqual([
      '2026-01-02T12:00:00.000Z WARNING it failed url="https://h/a=b" reason="said \\"no\\"" none=null\n',
    ]);
  });

  test.each([
    ["https://h/p?token=s3cret", "https://h/p?…"],
    ["https://h/p#access_token=s3cret", "https://h/p#…"],
    ["http://user:s3cret@h:80/p", "http://…@h:80/p"],
    ["HTTP://user:s3@cret@h/", "HTTP://…@h/"],
    ["postgres://user:s3cret@h:5432/pages?sslmode=require", "postgres://…@h:5432/pages?…"],
    ["postgresql://user:s3@cret@h/pages", "postgresql://…@h/pages"],
    ["http://user:s3/cret@h/p", "http://…@h/p"],
    ["http://user:s3?cret@h/p?s3cret", "http://…@h/p?…"],
    ["http://h:8080/@user/post", "http://h:8080/@user/post"],
    ["http://[::1]:8080/@user/post", "http://[::1]:8080/@user/post"],
    [
      "GET http://h/p?a=s3cret: no answer, nor by https://h/q?b=s3cret.",
      "GET http://h/p?…: no answer, nor by https://h/q?….",
    ],
    ['the link "http://h/?s3cret" leads on', 'the link "http://h/?…" leads on'],
    ["what? nothing#here", "what? nothing#here"],
    ["", ""],
  ])("shows no secret of an address: %s", (written, shown) => {
    for (const format of ["json", "text"] as const) {
      const { log, lines } = openLog("info", format);
      log.with({ url: written }).info(written, { reason: written });
      expect(lines.join("")).not.toContain("s3");
      if (format === "json")
        expect(JSON.parse(lines[0] ?? "")).toMatchObject({ message: shown, url: shown, reason: shown });
    }
  });

  test("writes every one of a thousand equal lines", () => {
    const { log, lines } = openLog("info");
    for (let i = 0; i < 1000; i++) log.info("again");
    expect(lines.length).toBe(1000);
  });

  test("puts the fields of `with` on every line, the line's own over them", () => {
    const { log, lines } = openLog("info");
    const child = log.with({ request_id: "a", step: 1 }).with({ step: 2 });
    child.info("x", { step: 3, more: 4 });
    log.info("y");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { timestamp: NOON.toISOString(), level: "info", message: "x", request_id: "a", step: 3, more: 4 },
      { timestamp: NOON.toISOString(), level: "info", message: "y" },
    ]);
  });

  test("writes one line, whatever a page puts into a message or a field", () => {
    // Controls and line breaks are rare among all characters, so most samples are made of them.
    const hostile = fc.string({ unit: fc.integer({ min: 0, max: 0xff }).map((c) => String.fromCharCode(c)) });
    fc.assert(
      fc.property(hostile, hostile, fc.constantFrom<LogFormat>("json", "text"), (message, value, format) => {
        const { log, lines } = openLog("critical", format);
        const fields: LogFields = { value };
        log.critical(message, fields);
        expect(lines.length).toBe(1);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
        expect(lines[0]).toMatch(/^[^\u0000-\u001f\u007f-\u009f]*\n$/);
      }),
    );
  });

  test("that is silent writes nothing", () => {
    expect(() => silentLog.with({ a: 1 }).critical("x")).not.toThrow();
  });
});
