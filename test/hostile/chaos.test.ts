import { testChaos } from "../support/chaos/chaos.ts";

/** What test/long/chaos.test.ts does for ten minutes, for one, with the same faults in every run. */
testChaos(60, 1);
