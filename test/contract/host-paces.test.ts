import { createHostPaces } from "../../src/crawler/host-paces.ts";
import { createHostSlots } from "../../src/crawler/index.ts";
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
