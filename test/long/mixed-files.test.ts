import { test } from "bun:test";
import { checkMixedTenants } from "../support/mixed-tenants.ts";

test("20 000 files of every sort are indexed or counted, and a second sync touches nothing", async () => {
  await checkMixedTenants(20_000);
}, 900_000);
