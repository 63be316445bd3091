import type { MetaRobots } from "../extraction/index.ts";
import { PRODUCT_TOKEN } from "../fetching/index.ts";

/** The page's directives with those of its `X-Robots-Tag` header, for all agents or for this one. */
export function withRobotsHeader(page: MetaRobots, header: string | undefined): MetaRobots {
  if (header === undefined) return page;
  let { noindex, nofollow } = page;
  let isForUs = true;
  for (const part of header.slice(0, 4096).toLowerCase().split(",")) {
    const colon = part.indexOf(":");
    const agent = colon < 0 ? "" : part.slice(0, colon).trim();
    // A name holds for what follows it; these directives have a value of their own.
    const isAgent = agent !== "" && !/^(?:unavailable_after|max-\w+(?:-\w+)*)$/.test(agent);
    if (isAgent) isForUs = agent === PRODUCT_TOKEN || agent === "*";
    const directive = (isAgent ? part.slice(colon + 1) : part).trim();
    if (!isForUs) continue;
    if (directive === "noindex" || directive === "none") noindex = true;
    if (directive === "nofollow" || directive === "none") nofollow = true;
  }
  return { noindex, nofollow };
}
