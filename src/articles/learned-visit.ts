import { Failure } from "../base/failure.ts";
import type { Extraction } from "../extraction/index.ts";
import { type FetchedPage, isUnusable } from "../fetching/index.ts";
import { hostOf, type PageUrl } from "../urls/index.ts";
import type { PageVisit } from "./page-visit.ts";
import type { Renderings } from "./renderings.ts";

/** The ways to get a page, and what is learned from it. */
export type LearnedVisit = {
  readonly renderings: Renderings;
  readonly signal: AbortSignal | undefined;
  /** Gets the page over plain HTTP, with its make. */
  readonly plainly: () => Promise<PageVisit>;
  /**
   * Renders the document of an answer.
   * @param isLater whether the host's turn is over, so that another one is needed for what the scripts read
   */
  readonly rendered: (answer: FetchedPage, isLater: boolean) => Promise<PageVisit>;
  /** Has the browser get the page itself. */
  readonly throughout: () => Promise<PageVisit>;
  /** Whether an answer that is no page may become one in a browser. */
  readonly needsBrowser: (visit: PageVisit) => boolean;
  /** The answer is here, and nothing else is asked of the host for now. */
  readonly onFetched: (answer: FetchedPage) => void;
  /** Told how long the page has waited for a comparison, in ms. */
  readonly onWaited: (ms: number) => void;
};

/**
 * Gets a page over plain HTTP, and has a browser render its document unless it runs nothing, or that has changed nothing
 * for pages of its make. The site is asked once, except where it refuses the plain client.
 * @throws Failure as the fetchers and the extractor do
 */
export async function learnedVisit(url: PageUrl, visit: LearnedVisit): Promise<PageVisit> {
  const { renderings, signal, rendered, onFetched } = visit;
  const plain = await plainUnlessRefused(url, visit);
  if (plain.page.fetchedBy === "browser") return plain;
  const make = plain.extraction?.make;
  if (!make?.runs) {
    if (visit.needsBrowser(plain)) return await rendered(plain.page, false);
    onFetched(plain.page);
    return plain;
  }
  const turn = renderings.take(hostOf(plain.page.finalUrl), make.name);
  if (turn === null) return await rendered(plain.page, false);
  let isLater = false;
  if (!turn.isCompared) {
    onFetched(plain.page);
    const startedAt = performance.now();
    isLater = await renderings.wait(turn, signal);
    visit.onWaited(performance.now() - startedAt);
    if (!isLater) return plain;
  }
  try {
    const second = await rendered(plain.page, isLater);
    const asked = second.page.asked ?? [];
    // What is read now may fill on another page what stands empty here.
    const isSame = isSameContent(plain, second) && !(make.awaits && asked.length > 0);
    renderings.note(turn, { isSame, asked: asked.join("\n") });
    return second;
  } catch (error) {
    turn.history.leave(turn.place);
    if (!isUnusable(error) || !(error instanceof Failure)) throw error;
    if (!isLater) onFetched(plain.page);
    return { ...plain, notes: [...plain.notes, `Fetched over plain HTTP: ${error.message}`] };
  }
}

/** Asks the plain client first, unless the host refuses it what it gives a browser. */
async function plainUnlessRefused(url: PageUrl, visit: LearnedVisit): Promise<PageVisit> {
  const { renderings, plainly, throughout } = visit;
  const host = hostOf(url);
  if (renderings.isRefusing(host) === true) return await throughout();
  const answer = await plainly().catch((error: unknown) => {
    if (error instanceof Failure && error.code === "network") return error;
    throw error;
  });
  const isRefused = answer instanceof Failure || isRefusal(answer.page.status);
  if (!isRefused || renderings.isRefusing(host) === false) {
    if (answer instanceof Failure) throw answer;
    return answer;
  }
  try {
    const second = await throughout();
    renderings.noteRefusal(host, second.page.fetchedBy === "browser" && second.page.status < 400);
    return second;
  } catch (error) {
    renderings.noteRefusal(host, false);
    throw error;
  }
}

/** Statuses with which a site may turn away a client that is no browser. */
const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && ![404, 408, 410, 425, 429].includes(status);

/** Whether rendering left the content as it was, and added no link. */
export function isSameContent(plain: PageVisit, rendered: PageVisit): boolean {
  const [before, after] = [plain.extraction, rendered.extraction];
  if (before === null || after === null || plain.page.finalUrl !== rendered.page.finalUrl) return false;
  const links = new Set(before.links.map(({ url, isNofollow }) => `${isNofollow} ${url}`));
  return (
    after.links.every(({ url, isNofollow }) => links.has(`${isNofollow} ${url}`)) &&
    canonicalOf(before) === canonicalOf(after) &&
    // The same words may be written down in another way, which the choice of blocks may take for other content.
    ((before.make !== undefined && before.make.words === after.make?.words) ||
      contentOf(before) === contentOf(after))
  );
}

const canonicalOf = ({ robots, canonical }: Extraction): string => JSON.stringify([robots, canonical]);

const contentOf = ({ article }: Extraction): string =>
  JSON.stringify(
    article && [
      article.title,
      article.byline,
      article.publishedDate,
      article.modifiedDate,
      article.text,
      article.markdown,
      article.anchors,
    ],
  );
