import { isRecord } from "../../base/json.ts";
import { type PageUrl, resolveHref } from "../../urls/index.ts";
import { textOf } from "../json-ld.ts";
import { detached } from "../meta-tags.ts";
import { pixels } from "../pixels.ts";
import type { Article } from "../types.ts";
import type { MetadataPage } from "./metadata-page.ts";

type LeadImage = Pick<Article, "image" | "imageWidth" | "imageHeight">;
type Offered = { readonly url: string | null; readonly width: number | null; readonly height: number | null };

const NO_IMAGE: LeadImage = { image: null, imageWidth: null, imageHeight: null };

/** The image that the page offers for links to it, absolute, and its size in pixels where the page says it. */
export function readLeadImage(page: MetadataPage, base: PageUrl | null): LeadImage {
  const offered = [...offeredByMeta(page), ...page.jsonLd.flatMap(({ image }) => offeredByJsonLd(image))];
  const absolute = ({ url }: Offered): string | null => (url ? resolveHref(url, base) : null);
  const chosen = offered.find((one) => /^https?:/.test(absolute(one) ?? ""));
  const address = chosen && absolute(chosen);
  if (!address) return NO_IMAGE;
  // Another place may say how large the same image is.
  const sized = offered.find((one) => (one.width ?? one.height) !== null && absolute(one) === address);
  return { image: detached(address), imageWidth: sized?.width ?? null, imageHeight: sized?.height ?? null };
}

const META_NAMES = ["og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"];

function offeredByMeta({ meta, facts }: MetadataPage): Offered[] {
  const size = sizeOfFirst(facts.properties);
  const addressOf = (name: string): string | null => meta.get(name) ?? null;
  return META_NAMES.map((name) => ({
    url: addressOf(name),
    ...(name.startsWith("og:") ? size : { width: null, height: null }),
  }));
}

/** The size that stands between the first `og:image` and the next one, which has its own. */
function sizeOfFirst(properties: MetadataPage["facts"]["properties"]): Omit<Offered, "url"> {
  let [width, height]: (number | null)[] = [null, null];
  let images = 0;
  for (const [property, content] of properties) {
    if (property === "og:image" && ++images > 1) break;
    if (property === "og:image:width") width ??= pixels(content);
    if (property === "og:image:height") height ??= pixels(content);
  }
  return { width: width ?? null, height: height ?? null };
}

/** A schema.org image: a URL, an ImageObject, or a list of either. */
function offeredByJsonLd(image: unknown): Offered[] {
  return [image]
    .flat()
    .slice(0, MAX_IMAGES)
    .flatMap((one) => {
      if (typeof one === "string") return [{ url: one, width: null, height: null }];
      if (!isRecord(one)) return [];
      return [
        {
          url: textOf(one.url) ?? textOf(one.contentUrl),
          width: pixels(one.width),
          height: pixels(one.height),
        },
      ];
    });
}

const MAX_IMAGES = 20;
