/** An entry of a sitemap as it is written there. */
export type SitemapRecord = {
  /** Whether it names a page or, in an index, a sitemap. */
  readonly names: "page" | "sitemap";
  readonly loc: string;
  /** In a list of URLs a word is no relative location. */
  readonly mayBeRelative: boolean;
  readonly lastModified: string | null;
};

/** Takes a sitemap's text piece by piece. */
export interface RecordReader {
  /** @throws Failure `unsupported_content` for what is no sitemap, or is made to harm */
  read(piece: string): void;
  /** Says that the text is over. @throws Failure `unsupported_content` when it ends too early */
  finish(): void;
  /** What has been read since the last call, also before a failure. */
  take(): readonly SitemapRecord[];
}

/** Longer locations are traps; of text in them little more than this is kept. */
export const MAX_LOC_LENGTH = 8192;
