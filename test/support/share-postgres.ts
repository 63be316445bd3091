import { startShared } from "./postgres.ts";

const [directory = "", port = ""] = process.argv.slice(2);
startShared(directory, Number(port));
