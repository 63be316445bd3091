import { meaningsIn } from "../../../base/text.ts";
import { bestImageSource } from "../../links.ts";
import type { AdmonitionKind } from "../model.ts";
import {
  ancestorWhere,
  BLOCKS,
  build,
  type ContentElement,
  type ContentNode,
  find,
  findAll,
  hasClass,
  isElement,
  isText,
  MAX_ELEMENT_DEPTH,
  moveChildren,
  named,
  nextNode,
  textOf,
} from "../tree.ts";

/* The notes and warnings of all generators as one form: `<blockquote class="admonition kind">`. */

const KINDS = meaningsIn<AdmonitionKind>({
  note: `note info information seealso abstract summary todo example question secondary versionadded
    versionchanged`,
  tip: "tip hint success check",
  important: "important",
  warning: "warning attention deprecated",
  caution: "caution danger error failure bug",
});
const FRAME =
  /^(?:admonition|theme-admonition|admonitionblock|markdown-alert|custom-block|hint|starlight-aside|callout|alert|doc-note)$/;
const TITLE =
  "admonition-title admonition-heading markdown-alert-title custom-block-title callout-title starlight-aside__title alert-title alert-heading".split(
    " ",
  );
const TITLE_START = /^admonitionheading/;
/** Matches a kind after its frame: `tsd-alert tsd-alert-warning`, `blockquote-tag blockquote-tag-tip`. */
const NAMED_KIND = /^(.{2,40}?)--?([a-z]+)$/;

/** Returns the kind of admonition that an element is; null when it is none. */
export function admonitionKind(element: ContentElement): AdmonitionKind | null {
  const classes = element.classes;
  const named = element.getAttribute("data-callout");
  if (named) return KINDS[named.toLowerCase()] ?? "note";
  // Microsoft's documentation marks the kind only by a class in capitals.
  if (/^(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)$/.test(element.className) && element.hasMoreChildrenThan(1))
    return KINDS[element.className.toLowerCase()] ?? null;
  return classes.some((word) => FRAME.test(word))
    ? kindOfFrame(classes)
    : (kindByClassAlone(element, classes) ?? kindByNamedFrame(element, classes));
}

function kindOfFrame(classes: readonly string[]): AdmonitionKind | null {
  const onlyBootstrap = classes.includes("alert") && !classes.some((word) => /admonition/.test(word));
  if (onlyBootstrap && !classes.some((word) => /^alert-(?:info|success|warning|danger)$/.test(word)))
    return null;
  if (classes.includes("custom-block") && classes.includes("details")) return null;
  for (const word of classes) {
    const kind = KINDS[word] ?? KINDS[/(?:--?|_)([a-z]+)$/.exec(word)?.[1] ?? ""];
    if (kind && word !== "hint" && word !== "summary") return kind;
  }
  if (classes.includes("hint")) return classes.includes("admonition") ? "tip" : null;
  return classes.includes("admonition") ? "note" : null;
}

/** The kinds that a class alone can tell; `info` or `example` are too general without a frame. */
const LONE_KINDS = new Set("note tip important warning caution danger hint attention deprecated".split(" "));
/** Longer elements are parts of the page, not remarks, whatever their class. */
const MAX_LONE = { characters: 3000, nodes: 300 };

// DocBook, Javadoc and handwritten manuals wrap a remark only in `<div class="note">`.
function kindByClassAlone(element: ContentElement, classes: readonly string[]): AdmonitionKind | null {
  if (!/^(?:DIV|ASIDE|SECTION|P)$/.test(element.name)) return null;
  const kind = classes.find((word) => LONE_KINDS.has(word));
  return kind !== undefined && isRemark(element) ? (KINDS[kind] ?? null) : null;
}

// Systems name their frames differently, but kinds and titles alike.
function kindByNamedFrame(element: ContentElement, classes: readonly string[]): AdmonitionKind | null {
  for (const word of classes) {
    const [, frame = "", kind = ""] = NAMED_KIND.exec(word) ?? [];
    if (!classes.includes(frame) || KINDS[kind] === undefined) continue;
    const title = element.firstElementChild;
    if (title && hasClass(title, `${frame}-title`) && isRemark(element)) return KINDS[kind];
  }
  return null;
}

/** Tells whether an element has some text, not too much, and no heading of the page. */
function isRemark(root: ContentElement): boolean {
  let characters = 0;
  let nodes = 0;
  for (let node = root.firstChild; node; node = nextNode(node, root)) {
    if (node.kind === "text") characters += node.text.trim().length;
    const isPageHeading = node.kind === "element" && /^H[12]$/.test(node.name);
    if (isPageHeading || ++nodes > MAX_LONE.nodes || characters > MAX_LONE.characters) return false;
  }
  return characters > 0;
}

/** Rewrites an admonition as `<blockquote class="admonition kind">` with its title in `p.admonition-title`. */
export function canonicalAdmonition(element: ContentElement): ContentElement | undefined {
  const { name } = element;
  if (!/^(?:DIV|ASIDE|SECTION|BLOCKQUOTE|ARTICLE|P)$/.test(name)) return undefined;
  if (name === "BLOCKQUOTE" && element.className === "") return undefined;
  const kind = admonitionKind(element);
  if (kind === null) return undefined;
  const title = takeTitle(element);
  const block = build("BLOCKQUOTE", { class: `admonition ${kind}` });
  if (title !== "") block.append(build("P", { class: "admonition-title" }, title));
  const content = contentOf(element);
  const body = name === "P" ? build("P", {}) : block;
  if (body !== block) block.append(body);
  moveChildren(content, body);
  return block;
}

/** AsciiDoc and DocBook lay out their admonitions as a table with an icon beside the text. */
function contentOf(element: ContentElement): ContentElement {
  if (element.className.includes("admonitionblock")) return find(element, isContentCell) ?? element;
  const [table, ...more] = element.children;
  if (table?.name !== "TABLE" || more.length > 0 || !find(table, isImageInCell)) return element;
  const cells = findAll(table, isCell).filter((cell) => textOf(cell).trim() !== "");
  return cells.length === 1 ? cells[0]! : element;
}

const isCell = named("TD");
const isHeadCell = named("TH");
const isImage = named("IMG");
const isContentCell = (element: ContentElement): boolean => isCell(element) && hasClass(element, "content");
const isImageInCell = (element: ContentElement): boolean =>
  isImage(element) && ancestorWhere(element, MAX_ELEMENT_DEPTH, isCell) !== null;
const isInnerTitle = (element: ContentElement): boolean => hasClass(element, "callout-title-inner");

function titleInIcon(element: ContentElement): ContentElement | null {
  const icon = find(element, (inner) => hasClass(inner, "icon"));
  return icon && find(icon, (inner) => hasClass(inner, "title"));
}

/** The number of elements from the start in which a title is looked for. */
const MAX_BEFORE_TITLE = 12;

function takeTitle(element: ContentElement): string {
  const isFramed = element.className.includes("admonitionblock");
  const title = titleByClass(element) ?? (isFramed ? titleInIcon(element) : null) ?? firstAsTitle(element);
  if (title === null) return "";
  const text = textOf(find(title, isInnerTitle) ?? title);
  title.remove();
  return text.replace(/\s+/g, " ").trim();
}

function titleByClass(element: ContentElement): ContentElement | null {
  // A title is at the start; a longer search would be quadratic for nested admonitions.
  let node: ContentNode | null = element.firstChild;
  for (let seen = 0; node && seen < MAX_BEFORE_TITLE; node = nextNode(node, element)) {
    if (node.kind === "text") continue;
    if (node.classes.some((word) => TITLE.includes(word) || TITLE_START.test(word))) return node;
    seen++;
  }
  return null;
}

function firstAsTitle(element: ContentElement): ContentElement | null {
  const first = element.firstElementChild;
  if (first === null) return null;
  const mayBeTitle = (first.firstElementChild === null || hasTitleClass(first)) && standsAlone(first);
  if (mayBeTitle && isKindWord(textOf(first))) return first;
  // DocBook puts the title into the head of its table.
  const inTable = first.name === "TABLE" ? find(first, isHeadCell) : null;
  return inTable ?? (isLoneTitle(element, first) ? first : null);
}

// Pandoc's title contains a paragraph, others contain an icon.
const hasTitleClass = (element: ContentElement): boolean =>
  element.classes.some((word) => /(?:^|[-_])title$/.test(word));

// `<b>Note</b> that …` begins a sentence.
function standsAlone(element: ContentElement): boolean {
  if (BLOCKS.has(element.name)) return true;
  const next = element.nextSibling;
  const isBeforeText = isText(next) && next.text.trim() !== "";
  const after = element.nextElementSibling;
  return !isBeforeText && after !== null && (after.name === "BR" || BLOCKS.has(after.name));
}

// In `<div class="warning"><h3>Security</h3>` the heading names the remark and begins no section.
const isLoneTitle = (element: ContentElement, first: ContentElement): boolean =>
  /^H[3-6]$/.test(first.name) && !element.classes.some((word) => FRAME.test(word));

/** The words that head notes and warnings in languages other than English. */
const KIND_WORDS = new Set(
  `note, tip, important, warning, caution, danger, info, hint, attention, deprecated,
   hinweis, anmerkung, bemerkung, tipp, wichtig, warnung, achtung, vorsicht, gefahr, veraltet,
   remarque, astuce, avertissement, mise en garde, conseil, obsolète,
   nota, consejo, sugerencia, importante, advertencia, aviso, cuidado, precaución, peligro, atención, obsoleto,
   dica, perigo, suggerimento, avvertenza, avviso, attenzione, pericolo, deprecato,
   opmerking, belangrijk, waarschuwing, let op, gevaar, uwaga, wskazówka, ważne, ostrzeżenie,
   примечание, замечание, совет, важно, внимание, предупреждение, осторожно, опасно, устарело,
   注意, 注記, 重要, 警告, 危険, ヒント, 補足, 非推奨, 提示, 备注, 註, 小技巧, 危险, 已弃用, 참고, 경고, 주의, 중요, 팁`.split(
    /,\s+/,
  ),
);

const isKindWord = (text: string): boolean =>
  text.length < 40 &&
  KIND_WORDS.has(
    text
      .trim()
      .toLowerCase()
      .replace(/[:：!]$/, "")
      .trimEnd(),
  );

/** Returns the kind of GitHub's own alert mark that opens a quotation, if any. */
export function alertMark(element: ContentElement): AdmonitionKind | null {
  const first = element.firstElementChild;
  if (!isElement(first)) return null;
  const mark = /^\s*\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]/.exec(textOf(first).slice(0, 40))?.[1];
  return mark ? (KINDS[mark.toLowerCase()] ?? null) : null;
}

/* Tab groups, task items and embedded media of all generators, in one form each. */

function isTab(element: ContentElement): boolean {
  const { name, parent } = element;
  if (name === "BUTTON" && parent && hasClass(parent, "tabs")) return true;
  if (name === "LABEL") {
    if (hasClass(element, "sd-tab-label")) return true;
    if (parent && /(?:^|\s)(?:tabbed-labels|tabs|tabbed-set)(?:$|\s)/.test(parent.className)) return true;
  }
  return element.getAttribute("role") === "tab" || element.hasAttribute("data-tab-label");
}

function isPanel(element: ContentElement): boolean {
  const { name, parent } = element;
  if (hasClass(element, "tabbed-block") || hasClass(element, "sd-tab-content")) return true;
  if (name === "DIV" && parent && hasClass(parent, "blocks")) return true;
  if (hasClass(element, "tab-pane") && parent && hasClass(parent, "tab-content")) return true;
  return element.getAttribute("role") === "tabpanel";
}

const GROUP =
  /(?:^|\s)(?:tabs|tabbed-set|tabs-container|vp-code-group|code-group|sd-tab-set|sphinx-tabs|tab-?group|tab-set|starlight-tabs|tabs-wrapper|content-tabs|code-tabs)(?:$|\s)/i;

/** Puts each tab's name before its content; code gets the name as its label. */
export function labelTabs(element: ContentElement): void {
  if (!GROUP.test(element.className.slice(0, 500)) && element.name !== "STARLIGHT-TABS") return;
  const labels = findAll(element, isTab);
  const panels = findAll(element, isPanel).filter((panel) => !isNestedPanel(panel, element));
  if (labels.length === 0 || labels.length !== panels.length) return;
  for (const [index, panel] of panels.entries()) {
    const label = textOf(labels[index]!).replace(/\s+/g, " ").trim();
    if (label !== "") labelPanel(panel, label);
  }
  for (const label of labels) label.remove();
}

function isNestedPanel(panel: ContentElement, group: ContentElement): boolean {
  for (let at = panel.parent; at && at !== group; at = at.parent) {
    if (
      /tabpanel/.test(at.getAttribute("role") ?? "") ||
      /(?:^|\s)tabbed-(?:block|content)(?:$|\s)/.test(at.className)
    ) {
      return at.getAttribute("role") === "tabpanel" || at.className.includes("tabbed-block");
    }
  }
  return false;
}

const isPre = named("PRE");
const isSource = (element: ContentElement): boolean =>
  element.name === "SOURCE" && element.hasAttribute("src");

/** Shorter text beside the code of a panel, such as a button or a file name, is not content. */
const MAX_BESIDE_CODE = 60;

function labelPanel(panel: ContentElement, label: string): void {
  const pres = findAll(panel, isPre);
  const codeLength = pres.reduce((length, pre) => length + textOf(pre).length, 0);
  const [pre] = pres;
  if (pre && textOf(panel).length - codeLength < MAX_BESIDE_CODE) pre.setAttribute("data-label", label);
  else panel.insertBefore(build("P", {}, build("STRONG", {}, label)), panel.firstChild);
}

const TASKS = /(?:^|[\s_-])(?:task|to-?do)-?list(?=$|\s)/i;
const STATE = /(?:^|[\s_-])(un)?checked(?=$|\s)/i;

/** The class by which an item, or what it begins with, tells whether it is done; null for none. */
const stateOf = (item: ContentElement): RegExpExecArray | null =>
  STATE.exec(`${item.className.slice(0, 300)} ${item.firstElementChild?.className.slice(0, 300) ?? ""}`);

/** Turns the items of a list of tasks that says by names what is done into tasks. */
function canonicalTasks(list: ContentElement): void {
  const items = list.children.filter(({ name }) => name === "LI");
  if (!items.some(stateOf) || find(list, isInput)) return;
  for (const item of items) {
    const state = stateOf(item);
    item.setAttribute("class", state && !state[1] ? "task-list-item done" : "task-list-item");
  }
}

const isInput = named("INPUT");

/** Turns a list item's check box into a class and a readable sign. */
export function canonicalTask(input: ContentElement): void {
  if (input.name === "UL" && TASKS.test(input.className.slice(0, 300))) canonicalTasks(input);
  if (input.name !== "INPUT" || input.getAttribute("type")?.toLowerCase() !== "checkbox") return;
  let item: ContentElement | null = input.parent;
  for (let step = 0; item && step < 3 && item.name !== "LI"; step++) item = item.parent;
  if (item?.name !== "LI" || item.hasAttribute("data-seen-box")) return;
  // Only the first box of an item can belong to it.
  item.setAttribute("data-seen-box", "");
  const before = textBefore(input, item);
  if (before.trim() !== "") return;
  // A box that readers can tick is a filter, or folds a thread; rendered tasks are read-only.
  const isTask = input.hasAttribute("disabled") || /task|todo|checklist/i.test(namesAround(item));
  if (!isTask) return;
  const isDone = input.hasAttribute("checked");
  item.setAttribute("class", isDone ? "task-list-item done" : "task-list-item");
}

const namesAround = (item: ContentElement): string =>
  `${item.className.slice(0, 300)} ${item.parent ? item.parent.className.slice(0, 300) : ""}`;

function textBefore(node: ContentNode, root: ContentNode): string {
  for (let at: ContentNode | null = node; at && at !== root; at = at.parent) {
    for (let before = at.previousSibling; before; before = before.previousSibling)
      if (textOf(before).trim() !== "") return textOf(before);
  }
  return "";
}

/** Returns the image that a script would load when the page declares it only in `<noscript>`. */
export function canonicalNoscript(element: ContentElement): ContentElement | null | undefined {
  if (element.name !== "NOSCRIPT") return undefined;
  const image = find(element, isImage);
  if (!image) return null;
  const before = element.previousElementSibling ?? element.parent;
  const lazy = before && (before.name === "IMG" ? before : find(before, isImage));
  if (!lazy || lazy === image) return image;
  if (bestImageSource(lazy) !== null) return null;
  lazy.remove();
  return image;
}

const VIDEO_HOSTS =
  /^(?:https?:)?\/\/(?:www\.|player\.|m\.)?(?:youtube\.com|youtube-nocookie\.com|youtu\.be|vimeo\.com|dailymotion\.com|geo\.dailymotion\.com|twitch\.tv|ted\.com|embed\.ted\.com|fast\.wistia\.(?:net|com)|loom\.com|player\.bilibili\.com|bilibili\.com|rutube\.ru|archive\.org|open\.spotify\.com|w\.soundcloud\.com|peertube\.[\w.]+)\//i;

/** URL prefix of the page that shows a video, by the name of the element: `<lite-youtube>`, `<amp-vimeo>`. */
const WATCH_ADDRESS: Readonly<Record<string, string>> = {
  YOUTUBE: "https://www.youtube.com/watch?v=",
  VIMEO: "https://vimeo.com/",
  DAILYMOTION: "https://www.dailymotion.com/video/",
};

/** Turns a video or audio element into a link to it; undefined when the element embeds none. */
export function canonicalMedia(element: ContentElement): ContentElement | undefined {
  const { name } = element;
  const source = mediaSource(element, name);
  if (source === null) return undefined;
  const title = (element.getAttribute("title") || element.getAttribute("aria-label") || "")
    .replace(/\s+/g, " ")
    .trim();
  const link = build("A", { href: watchUrl(source) }, title || (name === "AUDIO" ? "Audio" : "Video"));
  return build("P", {}, link);
}

function mediaSource(element: ContentElement, name: string): string | null {
  if (name === "VIDEO" || name === "AUDIO") {
    // A video that plays automatically, without sound and in a loop, is a background.
    if (!element.hasAttribute("controls") && element.hasAttribute("autoplay")) return null;
    const source = element.getAttribute("src") ?? find(element, isSource)?.getAttribute("src");
    return source && !/^(?:blob|data):/i.test(source) ? source : null;
  }
  if (name !== "IFRAME" && name !== "EMBED") return watchAddress(element);
  for (const attribute of ["src", "data-src", "data-lazy-src"]) {
    const source = element.getAttribute(attribute)?.trim() ?? "";
    if (VIDEO_HOSTS.test(source)) return source;
  }
  return null;
}

function watchAddress(element: ContentElement): string | null {
  const watch = WATCH_ADDRESS[element.name.slice(element.name.indexOf("-") + 1)];
  const id = element.getAttribute("videoid") || element.getAttribute("data-videoid");
  return watch && id ? watch + id : null;
}

// Replaces an address for frames with one for people.
function watchUrl(source: string): string {
  const youtube = /youtube(?:-nocookie)?\.com\/embed\/([\w-]{6,20})/.exec(source)?.[1];
  if (youtube) return `https://www.youtube.com/watch?v=${youtube}`;
  const vimeo = /player\.vimeo\.com\/video\/(\d+)/.exec(source)?.[1];
  return vimeo ? `https://vimeo.com/${vimeo}` : source;
}
