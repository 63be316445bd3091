import { mkdir, realpath } from "node:fs/promises";
import { relative, sep } from "node:path";
import type { ArticleSession } from "../../../app/index.ts";
import type { FetchedArticle } from "../../../articles/index.ts";
import { fetchPicture } from "../../../fetching/index.ts";
import { PictureFolder } from "../../../pages/index.ts";
import { originOf, type PageUrl, parsePageUrl } from "../../../urls/index.ts";
import { attempt } from "../../sink.ts";
import { directoryOf } from "../../words.ts";
import type { PageInput } from "./extract-options.ts";
import type { ListPlace } from "./list-place.ts";

type SaverParts = {
  readonly session: Pick<ArticleSession, "http" | "maxBytes">;
  readonly signal: AbortSignal;
};

/** Saves the pictures of an article, and returns it with Markdown that leads to them. */
export type SavePictures = (fetched: FetchedArticle, input: PageInput) => Promise<FetchedArticle>;

/** Creates what saves pictures in a directory; the Markdown leads there from the file or folder that it is written to. */
export function createPictureSaver(directory: string, place: ListPlace, parts: SaverParts): SavePictures {
  // Not before the first page: only then is there the folder that the path begins in.
  let opened: Promise<PictureFolder> | null = null;
  return async (fetched, input) => {
    const { article } = fetched;
    if (article.markdown === null) return fetched;
    const { maxBytes } = parts.session;
    opened ??= pathTo(directory, place).then(
      (path) => new PictureFolder({ directory, path, maxBytes, atOnce: 4 }),
    );
    const page = { ...article, markdown: article.markdown };
    const { warnings, ...text } = await (await opened).save(page, fetchFor(input, parts));
    return { ...fetched, article: { ...article, ...text }, warnings: [...fetched.warnings, ...warnings] };
  };
}

/** How an address in the output leads to a directory, which is made. */
async function pathTo(directory: string, { directory: folder, outputFile }: ListPlace): Promise<string> {
  return await attempt(directory, async () => {
    await mkdir(directory, { recursive: true });
    // A way up from a link to a folder leads elsewhere.
    const from = await realpath(folder ?? directoryOf(outputFile ?? "./page"));
    const names = relative(from, await realpath(directory)).split(sep);
    const path = names
      .map((name) => encodeURIComponent(name).replaceAll("(", "%28").replaceAll(")", "%29"))
      .join("/");
    return path === "" ? "." : path;
  });
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
