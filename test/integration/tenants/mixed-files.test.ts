import { test } from "bun:test";
import { checkMixedTenants } from "../../support/mixed-tenants.ts";

test("2 000 files of every sort are indexed or counted, and a second sync touches nothing", async () => {
  await checkMixedTenants(2000);
});
