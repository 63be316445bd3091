// A process that takes a lease in the file that it is given, says under which name, and lives until it is killed.
import { openDatabase, openLeaseOwner, openLeases } from "../../src/base/database/index.ts";

const [path = ""] = process.argv.slice(2);
const database = openDatabase({ path, name: "a test's state", access: { kind: "shared" } });
const owner = openLeaseOwner(database);
await openLeases(database, { hasDied: owner.hasDied }).take("work", owner.name, 3_600_000);
process.stdout.write(`${owner.name}\n`);
setInterval(() => {}, 1000);
