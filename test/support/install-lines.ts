import project from "../../project.json" with { type: "json" };

/** What the project says of itself in project.json. */
export type Names = { readonly [Name in keyof typeof project]: string | null };

/** What is wrong with a line: what it asks for does not exist, or is somebody else's. */
export type Fault = "registry" | "image" | "package manager" | "script" | "address" | "upgrade" | "report";

const OURS = /article[-_]extractor/;
const RUN_FROM_NPM = String.raw`npx|bunx|pnpx|(?:npm|pnpm|yarn|bun|deno)\s+(?:global\s+)?(?:i|install|add|exec|x|dlx|ci|update|upgrade|view)`;
const RUN_FROM_PYPI = String.raw`uvx|pipx\s+\w+|(?:uv\s+)?pip3?\s+(?:install|download)|uv\s+(?:add|tool\s+\w+)`;
const REGISTRY = new RegExp(
  String.raw`(?<![\w-])(?:(${RUN_FROM_NPM})|(${RUN_FROM_PYPI}))\s+([^\n\`;&|)"]*)`,
  "g",
);
const MANAGER =
  /(?<![\w-])(?:brew|scoop|winget|choco|snap|flatpak|conda|mamba|nix(?:-env)?|port|pacman|dnf|yum|zypper|apk|cargo|gem|go|apt(?:-get)?)\s+(?:[\w-]+\s+)?(?:install|add|tap|upgrade|update|get|run|-\w+)\s+([^\n`;&|)"]*)/g;
const ENGINE =
  /(?<![\w-])(?:docker|podman|nerdctl|skopeo|crane)\s+(?:image\s+)?(?:run|pull|create|copy)\s+([^\n`;&|)"]*)/g;
const IMAGE_FIELD = /(?:^|\s)(?:FROM|image:|docker:\/\/)\s*([\w./:@-]+)/g;
const PIPED = /(?:curl|wget)\b[^\n`]*\|\s*(?:sudo\s+)?\w*sh\b/;
const ADDRESS =
  /(?:\b[a-z+]+:\/\/|\bgit@)[^\s"'`<>()|;,]+|\buses:\s*[^\s.][^\s]*|\b(?:github|gitlab|jsr|npm|gh):[\w./-]+/g;
/** Hosts that nobody has, and words that stand for one. */
const NOBODY = /^(?:[\w.-]+\.)?(?:example(?:\.(?:com|net|org))?|test|invalid|internal)$|^[\w-]*$|^[^a-z]*$/;
const MAIL = /[\w.+-]+@([\w-]+(?:\.[\w-]+)+)/g;
const TRACKER = /private vulnerability report|security advisor|(?:issue|bug) tracker|open an issue/i;

/**
 * Finds what a line offers although project.json does not say that it exists.
 * @param line with its continuations, as a page, a message or a template has it
 */
export function faultsIn(line: string, names: Names): readonly Fault[] {
  const text = line.replaceAll("\\|", "|");
  const faults: Fault[] = [];
  for (const [, npm, , rest = ""] of text.matchAll(REGISTRY)) {
    const known = npm === undefined ? names.pypi_package : names.npm_package;
    if (packagesIn(rest).some((name) => names.published === null || !isPart(name, known)))
      faults.push("registry");
  }
  for (const [, rest = ""] of text.matchAll(MANAGER))
    if (packagesIn(rest).length > 0) faults.push("package manager");
  const images = [...text.matchAll(ENGINE)].map(([, rest = ""]) => packagesIn(rest)[0]);
  for (const image of [...images, ...[...text.matchAll(IMAGE_FIELD)].map(([, name]) => name)])
    if (image !== undefined && OURS.test(image) && !isImage(image, names)) faults.push("image");
  if (
    PIPED.test(text) &&
    /install\.sh|article-extractor|RELEASE|ADDRESS/.test(text) &&
    names.downloads === null
  )
    faults.push("script");
  if ([...text.matchAll(ADDRESS)].some(([address]) => OURS.test(address) && !isKnown(address, names)))
    faults.push("address");
  if (/article-extractor upgrade\b|upgrade --check/.test(text)) faults.push("upgrade");
  const isMail = [...text.matchAll(MAIL)].some(
    ([address, host = ""]) => !NOBODY.test(host) && !names.maintainer?.includes(address),
  );
  if (isMail || (TRACKER.test(text) && names.repository === null)) faults.push("report");
  return faults;
}

/** The words of a command that name a package of ours, or stand for its name, and no file. */
const packagesIn = (rest: string): readonly string[] =>
  rest.split(/\s+/).filter((word) => {
    if (/^-|^(?:\.{0,2}|~|dist)\/|\.(?:tgz|whl|deb|gz)$/.test(word)) return false;
    return OURS.test(word) || /^\$\{[\w.]*(?:name|npm|pypi|package)/.test(word);
  });

const isPart = (word: string, name: string | null): boolean =>
  name !== null && (word.replace(/(?:@|==).*/, "") === name || word.startsWith(`${name}-`));

const isImage = (image: string, { image: known, published }: Names): boolean =>
  /^(?:localhost|REGISTRY)\//.test(image) ||
  (published !== null && known !== null && image.startsWith(known));

function isKnown(address: string, { homepage, repository, downloads }: Names): boolean {
  const host = URL.parse(address)?.hostname ?? "";
  const places = [homepage, repository, downloads?.split("{version}")[0]].filter((place) => !!place);
  if (places.some((place) => address.replace(/^git\+/, "").startsWith(String(place)))) return true;
  return /^[a-z+]+:\/\//.test(address) && NOBODY.test(host);
}
