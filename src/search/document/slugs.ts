import type { DocumentUrl } from "../../urls/index.ts";
import { PLAIN_LETTERS } from "../analysis/characters.ts";
import type { Section } from "../types.ts";

/**
 * How a generator makes the anchor of a heading from its text. Docusaurus, Nextra, Starlight and many others
 * use GitHub's rules; MkDocs those of Python-Markdown, Sphinx those of Docutils. GitLab has its own.
 */
export const SLUG_STYLES = ["github", "vitepress", "mkdocs", "docutils", "gitlab"] as const;

export type SlugStyle = (typeof SLUG_STYLES)[number];

const SLUG_OF: Readonly<Record<SlugStyle, (heading: string) => string>> = {
  // github-slugger: letters, decimal digits, `_` and `-` stay, each blank becomes `-`; `½` and `²` go.
  github: (heading) =>
    heading
      .toLowerCase()
      .trim()
      .replace(/[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc} -]/gu, "")
      .replaceAll(" ", "-"),
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
  // docutils.nodes.make_id: ASCII letters and digits, runs of others become one `-`, and no digit comes first.
  docutils: (heading) =>
    heading
      .toLowerCase()
      .replace(/[ßæœøđħıłŧ]/g, (letter) => WITHOUT_STROKE[letter] ?? "")
      .normalize("NFKD")
      .replace(/[^\p{ASCII}]/gu, "")
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^[-0-9]+|-+$/g, ""),
  // gitlab: lib/gitlab/utils/markdown.rb: as GitHub's, but runs of `-` become one, and a number gets a word.
  gitlab: (heading) => SLUG_OF.github(heading).replace(/-+/g, "-").replace(/^\d+$/, "anchor-$&"),
};

const FORGE = /^https?:\/\/[^/]+\/[^?#]+?(\/-)?\/blob\//;

/** How the anchors of headings are made where a document is read: a forge shows it by its own rules. */
export function styleAt(url: DocumentUrl, style: SlugStyle): SlugStyle {
  const forge = FORGE.exec(url);
  if (!forge) return style;
  return forge[1] === undefined ? "github" : "gitlab";
}

/** What a forge makes of a Markdown heading with an id in braces, of which it knows nothing; null elsewhere. */
export function forgeSlug(url: DocumentUrl, written: string): string | null {
  return /\.(?:md|markdown|mdx)$/i.test(url) && FORGE.test(url)
    ? SLUG_OF[styleAt(url, "github")](written)
    : null;
}

/** What Docutils makes of letters that have no decomposition. */
const WITHOUT_STROKE: Readonly<Record<string, string>> = { ...PLAIN_LETTERS, ß: "sz", ħ: "h", ŧ: "t" };

const SEPARATOR = { github: "-", vitepress: "-", mkdocs: "_", gitlab: "-" } as const;

/**
 * The anchors of a document's headings, each once: the second `usage` is `usage-1`, or `usage_1` in MkDocs;
 * Docutils numbers all headings of a page that have no anchor of their own, `id1`, `id2`.
 */
export class Slugs {
  readonly #style: SlugStyle;
  readonly #taken = new Set<string>();
  /** The last number after each stem. */
  readonly #numbers = new Map<string, number>();

  constructor(style: SlugStyle = "github") {
    this.#style = style;
  }

  /** Keeps an anchor that the document itself names from being given to a heading. */
  reserve(anchor: string): void {
    this.#taken.add(anchor);
  }

  next(heading: string): string {
    const style = this.#style;
    const slug = SLUG_OF[style](heading);
    const isMissing = slug === "" && (style === "mkdocs" || style === "docutils");
    if (!isMissing && !this.#taken.has(slug)) {
      this.#taken.add(slug);
      return slug;
    }
    const stem = style === "docutils" ? "id" : slug + SEPARATOR[style];
    let count = this.#numbers.get(stem) ?? 0;
    let candidate = slug;
    do candidate = `${stem}${++count}`;
    while (this.#taken.has(candidate));
    this.#numbers.set(stem, count);
    this.#taken.add(candidate);
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
    return SLUG_STYLES[votes.indexOf(Math.max(...votes))]!;
  }
}

export const fragmentHash = (fragment: string): number => Bun.hash.xxHash32(fragment);
