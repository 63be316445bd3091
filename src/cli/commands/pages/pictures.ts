import { realpath, stat } from "node:fs/promises";
import type { ArticleSession } from "../../../app/index.ts";
import type { FetchedArticle } from "../../../articles/index.ts";
import { fetchPicture } from "../../../fetching/index.ts";
import { PictureFolder, picturesIn } from "../../../pages/index.ts";
import { originOf, type PageUrl, parsePageUrl } from "../../../urls/index.ts";
import { wrongUsage } from "../../io.ts";
import { decodePath, directoryOf, pathBytes } from "../../words.ts";
import type { PageInput } from "./extract-options.ts";
import type { ListPlace } from "./list-place.ts";

type SaverParts = {
  readonly session: Pick<ArticleSession, "http" | "maxBytes">;
  readonly signal: AbortSignal;
};

/** Saves the pictures of an article, and returns it with Markdown that leads to them. */
export type SavePictures = (fetched: FetchedArticle, input: PageInput) => Promise<FetchedArticle>;

/** Opens what saves pictures beside the Markdown. @throws Failure `invalid_usage` where that is no file of a directory */
export async function openPictureSaver(place: ListPlace, parts: SaverParts): Promise<SavePictures> {
  const pictures = picturesIn(place.directory ?? (await directoryOfFile(place.outputFile ?? "")));
  const { maxBytes } = parts.session;
  const folder = new PictureFolder({ place: pictures, maxBytes, atOnce: 4 });
  return async (fetched, input) => {
    const { article } = fetched;
    if (article.markdown === null) return fetched;
    const page = { ...article, markdown: article.markdown };
    const { warnings, ...text } = await folder.save(page, fetchFor(input, parts));
    return { ...fetched, article: { ...article, ...text }, warnings: [...fetched.warnings, ...warnings] };
  };
}

/** Where a file is or will be; a link is followed as when it is written. */
async function directoryOfFile(path: string): Promise<string> {
  const stats = await stat(pathBytes(path)).catch(() => null); // not there yet
  if (stats === null) return directoryOf(path);
  if (!stats.isFile())
    throw wrongUsage(`--save-images puts images/ beside the Markdown, and ${path} is not a file`);
  return directoryOf(decodePath(await realpath(pathBytes(path), { encoding: "buffer" })));
}

const fetchFor = (input: PageInput, { session, signal }: SaverParts) => {
  const page = input.url === null ? null : parsePageUrl(input.url);
  const authorization = input.kind === "url" ? input.authorization : null;
  return async (url: PageUrl): Promise<Uint8Array | string> => {
    const isForeign = page === null || originOf(url) !== originOf(page);
    const { status, bytes } = await fetchPicture(session.http, url, { signal, authorization, isForeign });
    return status >= 200 && status < 300 ? bytes : `HTTP ${status}`;
  };
};
