/**
 * At how many moments a test kills what it tests. The moments are spread over the whole work and differ from run
 * to run, so a few are enough each time; `make test-all` asks for many.
 */
export const KILLS = Number(process.env.TEST_KILLS ?? 8);
