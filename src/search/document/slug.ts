/**
 * The anchors of a document's headings, as GitHub and many generators make them: lower case; letters, digits,
 * `_` and `-` are kept, spaces become `-`, and repeated anchors get `-1`, `-2` ….
 */
export class Slugs {
  readonly #taken = new Map<string, number>();

  next(heading: string): string {
    const explicit = /\{#([\w:.-]{1,100})\}\s*$/.exec(heading);
    const base = explicit?.[1] ?? slug(heading);
    let count = this.#taken.get(base) ?? 0;
    let candidate = count === 0 ? base : `${base}-${count}`;
    while (count > 0 && this.#taken.has(candidate)) candidate = `${base}-${++count}`;
    this.#taken.set(base, count + 1);
    if (candidate !== base) this.#taken.set(candidate, 1);
    return candidate;
  }
}

const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .trim()
    .replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
