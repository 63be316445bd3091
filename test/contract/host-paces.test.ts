import { createHostSlots } from "../../src/crawler/index.ts";
import { createHostPaces } from "../../src/crawler/politeness.ts";
import { systemClock } from "../../src/fetching/index.ts";
import { describeHostPaces } from "./host-paces.contract.ts";

describeHostPaces("memory", async () => ({
  isShared: false,
  async open() {
    const slots = createHostSlots(systemClock);
    return { slots, paces: createHostPaces(slots, systemClock) };
  },
  [Symbol.asyncDispose]: async () => {},
}));
