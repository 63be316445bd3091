import { describe, expect, test } from "bun:test";
import { FAILURE_OUTCOMES, Failure } from "../../../src/base/failure.ts";

describe("failures", () => {
  // 1 the work failed, 2 wrong usage or configuration, 130 interrupted.
  const EXIT_CODES: readonly (readonly [code: string, exitCode: number])[] = [
    ["invalid_usage", 2],
    ["crawl_conflict", 2],
    ["invalid_settings", 2],
    ["invalid_url", 2],
    ["foreign_state", 2],
    ["cancelled", 130],
  ];

  test("of usage and settings exit with 2, interruptions with 130, all others with 1", () => {
    const special = new Map(EXIT_CODES);
    for (const [code, { exitCode }] of Object.entries(FAILURE_OUTCOMES)) {
      expect<unknown>([code, exitCode]).toEqual([code, special.get(code) ?? 1]);
    }
  });

  test("each have an HTTP error status", () => {
    for (const { httpStatus } of Object.values(FAILURE_OUTCOMES)) {
      expect(httpStatus).toBeGreaterThanOrEqual(400);
      expect(httpStatus).toBeLessThan(600);
    }
  });

  test("carry their code, message and cause, and cross a worker's boundary as plain data", () => {
    const cause = new TypeError("below");
    const failure = new Failure("timeout", "GET x took longer than 5 ms", { cause });
    expect(failure).toBeInstanceOf(Error);
    expect([failure.name, failure.code, failure.cause]).toEqual(["Failure", "timeout", cause]);
    const record = structuredClone(failure.toRecord());
    expect(record).toEqual({ code: "timeout", message: "GET x took longer than 5 ms" });
  });

  test("keep what a page is blocked by, as a record and with another status", () => {
    const block = { kind: "login", signs: ['title "Log in"', "a password field"] } as const;
    const record = structuredClone(new Failure("blocked", "x shows a login page", { block }).toRecord());
    expect(record.block).toEqual(block);
    expect(Failure.of(record).aboutStatus(401)).toMatchObject({ targetStatus: 401, block });
    expect(new Failure("timeout", "late").block).toBeNull();
  });
});
