/**
 * Serves the site that the documentation's examples read, on loopback and until Ctrl-C. `make sample-site` runs it;
 * PORT=40000 takes this port and the next one.
 */
import { parseArgs } from "node:util";
import { SAMPLE_PORTS, serveSampleSite } from "../test/support/sample-site.ts";

const { values } = parseArgs({ options: { port: { type: "string" } } });
const http = Number(values.port ?? SAMPLE_PORTS.http);
const https = http + 1;
if (!(Number.isInteger(http) && http > 0 && https < 65_536)) {
  console.error(`make sample-site: PORT=${values.port} is not a port from 1 to 65534`);
  process.exit(2);
}

await serveSampleSite({ http, https }).catch((error) => {
  console.error(`make sample-site: ${error.message}; another port: make sample-site PORT=40000`);
  process.exit(1);
});
console.log(`The sample site is at http://localhost:${http}/ until Ctrl-C.`);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
