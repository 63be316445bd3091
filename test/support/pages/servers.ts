import { startExtractor } from "../extractor-server.ts";
import { folderTenant, openIndexed, openSearchServer } from "../search-server.ts";
import type { ServedPage } from "./catalogue.ts";

/** Starts both servers, with documents; gives their addresses. */
export async function startPageServers(): Promise<
  AsyncDisposable & Readonly<Record<ServedPage["server"], string>>
> {
  const opened = new AsyncDisposableStack();
  const extractor = opened.use(await startExtractor());
  const mill = folderTenant(
    "mill",
    {
      "gates.md":
        "# Gates\n\nA gate opens and closes the weir.\n\n## Opening a gate\n\nRun `gate --open`:\n\n```sh\ngate --open 3\n```\n\nThe water falls.\n",
      "wheel.md": "# The wheel\n\nA wheel turns behind the gate.\n",
      "weir.md": "# Weirs\n\n| Weir | Height |\n| --- | --: |\n| upper | 2 m |\n",
    },
    { docs_name: "The mill", description: "How the mill works, from its weir to its stones" },
  );
  const bakery = folderTenant("bakery", {
    "bread.md": "# Bread\n\nFlour, water, salt, and a gate to the yard.\n",
  });
  const registry = opened.use(await openIndexed(mill, bakery));
  const search = opened.use(openSearchServer(registry));
  return { extractor: extractor.url, search: search.url, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
