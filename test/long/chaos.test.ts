import { testChaos } from "../support/chaos/chaos.ts";

/** As test/hostile/chaos.test.ts, for ten minutes, with other faults in every run. */
testChaos(600);
