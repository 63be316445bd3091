import { testFetcher } from "../support/test-fetcher.ts";
import { describeFetcher } from "./fetcher.ts";

describeFetcher({
  name: "the HTTP fetcher",
  make: async () => testFetcher({ limits: { requestTimeoutMs: 1000, pageBytes: 100_000 } }),
});
