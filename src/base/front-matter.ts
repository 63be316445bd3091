/** The block of metadata that a document begins with. Places are UTF-16 code units, ends exclusive. */
type FrontMatterBlock = {
  readonly syntax: "yaml" | "toml" | "json";
  /** Its text, without the lines around it, and with `\n` as line ends. */
  readonly written: string;
  readonly bodyStart: number;
};

const OPENING = /^\ufeff?(?:(---|\+\+\+)[ \t]{0,100}(?:\r\n|\n|\r)|(?=\{\s{0,1000}["}]))/;
const YAML_END = /(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|$)/y;
const TOML_END = /\+\+\+[ \t]*(?:\r\n|\n|\r|$)/y;
const BLANK_END = /[ \t]{0,200}(?:\r\n|\n|\r)/y;
const LINE_END = /\r\n|\n|\r/g;

/**
 * Finds front matter: YAML from `---` to `---` or `...`, TOML between lines of `+++`, or an object of JSON with text
 * below it. Whether it can be read as such is for the caller to say, for a document may also begin with a rule.
 */
export function findFrontMatter(text: string): FrontMatterBlock | null {
  const opening = OPENING.exec(text.slice(0, 2000));
  if (!opening) return null;
  const start = opening[0].length;
  if (opening[1] === undefined) return findJson(text, start);
  const [syntax, marker] =
    opening[1] === "---" ? (["yaml", YAML_END] as const) : (["toml", TOML_END] as const);
  LINE_END.lastIndex = start;
  for (let at = start; at - start <= MAX_BLOCK; at = LINE_END.lastIndex) {
    marker.lastIndex = at;
    const written = marker.test(text) && text.slice(start, at).replace(/\r\n?/g, "\n");
    if (written !== false) return { syntax, written, bodyStart: marker.lastIndex };
    if (!LINE_END.test(text)) return null;
  }
  return null;
}

/** Metadata are short, but for the anchors of stored pages; no body of megabytes is searched for an end. */
const MAX_BLOCK = 256 * 1024;

function findJson(text: string, start: number): FrontMatterBlock | null {
  let depth = 0;
  const parts = /"(?:[^"\\]|\\.)*"|[{}]/gs;
  const near = text.slice(start, start + MAX_BLOCK);
  for (const { 0: part, index } of near.matchAll(parts)) {
    if (part === "{") depth++;
    if (part !== "}" || --depth > 0) continue;
    BLANK_END.lastIndex = start + index + 1;
    const isAlone = BLANK_END.test(text) && /\S/.test(text.slice(BLANK_END.lastIndex));
    return isAlone
      ? { syntax: "json", written: near.slice(0, index + 1), bodyStart: BLANK_END.lastIndex }
      : null;
  }
  return null;
}
