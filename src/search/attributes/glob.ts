/** The most characters of a pattern. */
export const MAX_GLOB = 200;

const ONE = -1;
const STAR = -2;
const ANY = -3;
/** `**` and the slash behind it: nothing, or anything that ends in a slash. */
const FOLDERS = -4;
const SLASH = 47;

/**
 * A test of paths, which begin with `/`. A pattern without `*` and `?` is the beginning of a path. `*` stands
 * for anything within a name, `?` for one character of it, `**` for anything. A pattern without a slash is
 * the name of a file in any folder. Takes time linear in the product of both lengths, whatever the pattern.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  if (!/[*?]/.test(pattern)) {
    const start = pattern.startsWith("/") || pattern.includes("://") ? pattern : `/${pattern}`;
    return (path) => path.startsWith(start);
  }
  const whole = pattern.includes("/")
    ? /^[/*]|:\/\//.test(pattern)
      ? pattern
      : `/${pattern}`
    : `/**/${pattern}`;
  const matcher = new GlobMatcher(tokensOf(whole.replace(/^(?=\*)/, "/")));
  return (path) => matcher.matches(path);
}

function tokensOf(pattern: string): Int32Array {
  const tokens: number[] = [];
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === "?") tokens.push(ONE);
    else if (pattern[at] !== "*") tokens.push(pattern.charCodeAt(at));
    else {
      const start = at;
      while (pattern[at + 1] === "*") at++;
      const isFolders = at > start && pattern[start - 1] === "/" && pattern[at + 1] === "/";
      if (isFolders) at++;
      tokens.push(at === start ? STAR : isFolders ? FOLDERS : ANY);
    }
  }
  return Int32Array.from(tokens);
}

/** Walks a path once, with all places of the pattern at which it may be. */
class GlobMatcher {
  readonly #tokens: Int32Array;
  #active: Int32Array;
  #next: Int32Array;
  #count = 0;
  /** The last step at which each place was added, and at which it was added with those behind it. */
  readonly #added: Int32Array;
  readonly #entered: Int32Array;
  #step = 0;

  constructor(tokens: Int32Array) {
    this.#tokens = tokens;
    this.#active = new Int32Array(tokens.length + 1);
    this.#next = new Int32Array(tokens.length + 1);
    this.#added = new Int32Array(tokens.length + 1);
    this.#entered = new Int32Array(tokens.length + 1);
  }

  matches(path: string): boolean {
    this.#begin();
    this.#enter(0);
    for (let at = 0; at < path.length; at++) {
      const places = this.#next;
      const count = this.#count;
      this.#next = this.#active;
      this.#active = places;
      this.#begin();
      const unit = path.charCodeAt(at);
      for (let index = 0; index < count; index++) this.#take(places[index]!, unit);
      if (this.#count === 0) return false;
    }
    return this.#added[this.#tokens.length] === this.#step;
  }

  #begin(): void {
    this.#count = 0;
    this.#step++;
  }

  #take(place: number, unit: number): void {
    const token = this.#tokens[place];
    if (token === ANY || token === FOLDERS) this.#add(place);
    if (token === ANY || (token === STAR && unit !== SLASH)) this.#enter(place);
    else if (token === FOLDERS ? unit === SLASH : token === ONE ? unit !== SLASH : token === unit)
      this.#enter(place + 1);
  }

  /** Adds a place, and those behind it that it may skip. */
  #enter(place: number): void {
    for (let at = place; this.#entered[at] !== this.#step; at++) {
      this.#entered[at] = this.#step;
      this.#add(at);
      if (!(this.#tokens[at]! < ONE)) return; // the end has no token
    }
  }

  #add(place: number): void {
    if (this.#added[place] === this.#step) return;
    this.#added[place] = this.#step;
    this.#next[this.#count++] = place;
  }
}
