import type { Section } from "../types.ts";

/**
 * How a generator makes the anchor of a heading from its text. Docusaurus, Nextra, Starlight and many others
 * use GitHub's rules; MkDocs those of Python-Markdown.
 */
export const SLUG_STYLES = ["github", "vitepress", "mkdocs"] as const;

export type SlugStyle = (typeof SLUG_STYLES)[number];

const SLUG_OF: Readonly<Record<SlugStyle, (heading: string) => string>> = {
  // github-slugger: letters, digits, `_` and `-` stay, each space becomes `-`.
  github: (heading) =>
    heading
      .toLowerCase()
      .trim()
      .replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-"),
  // @mdit-vue/shared: no accents, runs of signs become one `-`, and no digit comes first.
  vitepress: (heading) =>
    heading
      .normalize("NFKD")
      .replace(/[\u0300-\u036f\p{Cc}]/gu, "")
      .replace(/[\s~`!@#$%^&*()\-_+=[\]{}|\\;:"'“”‘’<>,.?/]+/g, "-")
      .replace(/^-|-$/g, "")
      .replace(/^(?=\d)/, "_")
      .toLowerCase(),
  // markdown.extensions.toc: ASCII only, runs of spaces and `-` become one `-`.
  mkdocs: (heading) =>
    heading
      .normalize("NFKD")
      .replace(/[^\w\s-]/g, "")
      .trim()
      .toLowerCase()
      .replace(/[-\s]+/g, "-"),
};

const SEPARATOR: Readonly<Record<SlugStyle, string>> = { github: "-", vitepress: "-", mkdocs: "_" };

/** The anchors of a document's headings, each once: the second `usage` is `usage-1`, or `usage_1` in MkDocs. */
export class Slugs {
  readonly #style: SlugStyle;
  readonly #counts = new Map<string, number>();

  constructor(style: SlugStyle = "github") {
    this.#style = style;
  }

  /** Keeps an anchor that the document itself names from being given to a heading. */
  reserve(anchor: string): void {
    if (!this.#counts.has(anchor)) this.#counts.set(anchor, 0);
  }

  next(heading: string): string {
    const slug = SLUG_OF[this.#style](heading);
    const isMissing = slug === "" && this.#style === "mkdocs";
    if (!isMissing && !this.#counts.has(slug)) {
      this.#counts.set(slug, 0);
      return slug;
    }
    let count = this.#counts.get(slug) ?? 0;
    let candidate = slug;
    do candidate = `${slug}${SEPARATOR[this.#style]}${++count}`;
    while (this.#counts.has(candidate));
    this.#counts.set(slug, count);
    this.#counts.set(candidate, 0);
    return candidate;
  }
}

/** The sections with the anchors that a generator gives them; those that the document names itself stay. */
export function withSlugs(sections: readonly Section[], style: SlugStyle): Section[] {
  const slugs = new Slugs(style);
  for (const { anchor, isAnchorWritten } of sections) if (isAnchorWritten) slugs.reserve(anchor);
  return sections.map((section) =>
    section.level === 0 || section.isAnchorWritten
      ? section
      : { ...section, anchor: slugs.next(section.heading) },
  );
}

const PLAIN = /^[A-Za-z][A-Za-z0-9]*(?: [A-Za-z0-9]+)*$/;

/** Whether all styles make the same anchor; a repeated one, which has a number, is longer than its heading. */
const isAlike = ({ level, heading, anchor, isAnchorWritten }: Section): boolean =>
  level === 0 || isAnchorWritten || (anchor.length === heading.length && PLAIN.test(heading));

/**
 * Finds the style of a collection: the one that explains most of the fragments in its own links. Only
 * headings whose anchors differ between the styles can tell.
 */
export class SlugBallot {
  /** A bit for each style that makes this anchor, by the anchor's hash. */
  readonly #styles = new Map<number, number>();
  readonly #fragments = new Set<number>();

  /** @param fragments hashes of the fragments that a document links to, see `fragmentHash` */
  add(sections: readonly Section[], fragments: Iterable<number>): void {
    for (const fragment of fragments) this.#fragments.add(fragment);
    if (sections.every(isAlike)) return;
    const bySlug = SLUG_STYLES.map((style) => withSlugs(sections, style));
    for (let at = 1; at < sections.length; at++) {
      const first = bySlug[0]![at]!.anchor;
      if (bySlug.every((styled) => styled[at]!.anchor === first)) continue;
      bySlug.forEach((styled, style) => {
        const hash = fragmentHash(styled[at]!.anchor);
        this.#styles.set(hash, (this.#styles.get(hash) ?? 0) | (1 << style));
      });
    }
  }

  winner(): SlugStyle {
    const votes = SLUG_STYLES.map(() => 0);
    for (const fragment of this.#fragments) {
      const styles = this.#styles.get(fragment) ?? 0;
      for (let style = 0; style < votes.length; style++) if (styles & (1 << style)) votes[style]!++;
    }
    let best = 0;
    for (let style = 1; style < votes.length; style++) {
      if (votes[style]! > votes[best]!) best = style;
    }
    return SLUG_STYLES[best]!;
  }
}

export const fragmentHash = (fragment: string): number => Bun.hash.xxHash32(fragment);
