import { afterAll } from "bun:test";
import { testDatabase } from "../support/postgres.ts";
import { sharedPlace } from "../support/shared-frontier.ts";
import { describeFrontier } from "./frontier.contract.ts";
import { describeInterleavings } from "./frontier-interleavings.contract.ts";
import { describeLimits } from "./frontier-limits.contract.ts";

const database = await testDatabase();
const db = await database.open();
afterAll(() => database[Symbol.asyncDispose]());

/** @param jobIds the jobs that open the place; without a job, a finished crawl is not repeated */
const makePlace = (jobId: () => string | null) => async () =>
  sharedPlace(database, { db, change: (same) => same, jobId });

describeFrontier(
  "PostgreSQL",
  makePlace(() => crypto.randomUUID()),
);
describeInterleavings(
  "PostgreSQL",
  makePlace(() => null),
  { workers: 3, runs: 15 },
);
describeLimits(
  "PostgreSQL",
  makePlace(() => crypto.randomUUID()),
);
