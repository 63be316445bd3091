import { bestImageSource } from "../images.ts";
import {
  build,
  classesOf,
  classOf,
  following,
  isElement,
  moveChildren,
  nameOf,
  textOf,
  walkElements,
} from "./element.ts";
import type { AdmonitionKind } from "./model.ts";
import { BLOCKS } from "./names.ts";

/* Admonitions, tab groups, task items and embedded media of all generators, in one form each. */

const KINDS: Readonly<Record<string, AdmonitionKind>> = {
  note: "note",
  info: "note",
  information: "note",
  seealso: "note",
  abstract: "note",
  summary: "note",
  todo: "note",
  example: "note",
  question: "note",
  secondary: "note",
  versionadded: "note",
  versionchanged: "note",
  tip: "tip",
  hint: "tip",
  success: "tip",
  check: "tip",
  important: "important",
  warning: "warning",
  attention: "warning",
  deprecated: "warning",
  caution: "caution",
  danger: "caution",
  error: "caution",
  failure: "caution",
  bug: "caution",
};
const FRAME =
  /^(?:admonition|theme-admonition|admonitionblock|markdown-alert|custom-block|hint|starlight-aside|callout|alert|doc-note)$/;
const TITLE =
  "admonition-title admonition-heading markdown-alert-title custom-block-title callout-title starlight-aside__title alert-title alert-heading".split(
    " ",
  );
const TITLE_START = /^admonitionheading/;

/** The kind of admonition that an element is; null when it is none. */
export function admonitionKind(element: Element): AdmonitionKind | null {
  const classes = classesOf(element);
  const named = element.getAttribute("data-callout");
  if (named) return KINDS[named.toLowerCase()] ?? "note";
  // Microsoft's documentation has nothing but the kind as a class, in capitals.
  if (/^(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)$/.test(classOf(element)) && element.childElementCount > 1) {
    return KINDS[classOf(element).toLowerCase()] ?? null;
  }
  if (!classes.some((word) => FRAME.test(word))) return kindByClassAlone(element, classes);
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

/** Kinds that an element may be by its class alone; `info` or `example` say too little without a frame. */
const LONE_KINDS = new Set("note tip important warning caution danger hint attention deprecated".split(" "));
/** Longer elements are parts of the page rather than remarks, whatever they are called. */
const MAX_LONE = { characters: 3000, nodes: 300 };

// DocBook, Javadoc and handwritten manuals have nothing around a remark but `<div class="note">`.
function kindByClassAlone(element: Element, classes: readonly string[]): AdmonitionKind | null {
  if (!/^(?:DIV|ASIDE|SECTION|P)$/.test(nameOf(element))) return null;
  const kind = classes.find((word) => LONE_KINDS.has(word));
  return kind !== undefined && isRemark(element) ? (KINDS[kind] ?? null) : null;
}

/** Whether an element holds some text, not too much of it, and no heading of a page. */
function isRemark(root: Element): boolean {
  let characters = 0;
  let nodes = 0;
  for (let node: Node | null = root.firstChild; node; node = node.firstChild ?? following(node, root)) {
    if (node.nodeType === 3) characters += (node.nodeValue ?? "").trim().length;
    const isPageHeading = isElement(node) && /^H[12]$/.test(nameOf(node));
    if (isPageHeading || ++nodes > MAX_LONE.nodes || characters > MAX_LONE.characters) return false;
  }
  return characters > 0;
}

/** An admonition as `<blockquote class="admonition kind">` with its title in `p.admonition-title`. */
export function canonicalAdmonition(element: Element): Element | undefined {
  const name = nameOf(element);
  if (!/^(?:DIV|ASIDE|SECTION|BLOCKQUOTE|ARTICLE|P)$/.test(name)) return undefined;
  if (name === "BLOCKQUOTE" && !element.hasAttribute("class")) return undefined;
  const kind = admonitionKind(element);
  if (kind === null) return undefined;
  const title = takeTitle(element);
  const block = build(element, "blockquote", { class: `admonition ${kind}` });
  if (title !== "") {
    block.append(build(element, "p", { class: "admonition-title" }, title));
  }
  const content = contentOf(element);
  const body = name === "P" ? block.appendChild(build(element, "p", {})) : block;
  moveChildren(content, body);
  return block;
}

/** AsciiDoc and DocBook lay their admonitions out as a table of an icon beside the text. */
function contentOf(element: Element): Element {
  if (classOf(element).includes("admonitionblock")) return element.querySelector("td.content") ?? element;
  const [table, ...more] = element.children;
  if (!table || nameOf(table) !== "TABLE" || more.length > 0 || !table.querySelector("td img"))
    return element;
  const cells = [...table.querySelectorAll("td")].filter((cell) => textOf(cell).trim() !== "");
  return cells.length === 1 ? cells[0]! : element;
}

/** Elements from the start among which a title is looked for. */
const MAX_BEFORE_TITLE = 12;

function takeTitle(element: Element): string {
  let title: Element | null = null;
  let seen = 0;
  walkElements(element, (child) => {
    // A title stands at the start; admonitions inside admonitions would make more quadratic.
    if (++seen > MAX_BEFORE_TITLE) return true;
    const classes = classesOf(child);
    const isTitle = classes.some((word) => TITLE.includes(word) || TITLE_START.test(word));
    if (isTitle && title === null) title = child;
    return title !== null;
  });
  if (classOf(element).includes("admonitionblock")) title ??= element.querySelector(".icon .title");
  const first = element.firstElementChild;
  const mayBeTitle = first && first.childElementCount === 0 && standsAlone(first);
  if (title === null && mayBeTitle && isKindWord(textOf(first))) title = first;
  // DocBook's stands in the head of its table.
  if (title === null && first && nameOf(first) === "TABLE") title = first.querySelector("th");
  if (title === null && first && isLoneTitle(element, first)) title = first;
  if (title === null) return "";
  // A closure assigned it, which the compiler's flow analysis does not follow.
  const found = title as Element;
  const text = textOf(found.querySelector(".callout-title-inner") ?? found);
  found.remove();
  return text.replace(/\s+/g, " ").trim();
}

// `<b>Note</b> that …` begins a sentence.
function standsAlone(element: Element): boolean {
  if (BLOCKS.has(nameOf(element))) return true;
  const next = element.nextSibling;
  const isBeforeText = next?.nodeType === 3 && (next.nodeValue ?? "").trim() !== "";
  const after = element.nextElementSibling;
  return !isBeforeText && after !== null && (nameOf(after) === "BR" || BLOCKS.has(nameOf(after)));
}

// `<div class="warning"><h3>Security</h3>`: the heading names the remark, it begins no section.
const isLoneTitle = (element: Element, first: Element): boolean =>
  /^H[3-6]$/.test(nameOf(first)) && !classesOf(element).some((word) => FRAME.test(word));

/** The words with which pages in other languages than English head their notes and warnings. */
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

const TABS =
  "[role=tab], .tabbed-labels > label, .tabs > label, label.sd-tab-label, .tabbed-set > label, .tabs > button, [data-tab-label]";
const PANELS = "[role=tabpanel], .tabbed-block, .blocks > div, .sd-tab-content, .tab-content > .tab-pane";
const GROUP =
  /(?:^|\s)(?:tabs|tabbed-set|tabs-container|vp-code-group|code-group|sd-tab-set|sphinx-tabs|tab-?group|tab-set|starlight-tabs|tabs-wrapper|content-tabs|code-tabs)(?:$|\s)/i;

/** Puts each tab's name in front of what it shows; code takes it as its label. */
export function labelTabs(element: Element): void {
  if (!GROUP.test(classOf(element).slice(0, 500)) && nameOf(element) !== "STARLIGHT-TABS") return;
  const labels = [...element.querySelectorAll(TABS)];
  const panels = [...element.querySelectorAll(PANELS)].filter((panel) => !isNestedPanel(panel, element));
  if (labels.length === 0 || labels.length !== panels.length) return;
  for (const [index, panel] of panels.entries()) {
    const label = textOf(labels[index]!).replace(/\s+/g, " ").trim();
    panel.removeAttribute("hidden");
    panel.removeAttribute("style");
    if (label !== "") labelPanel(panel, label);
  }
  for (const label of labels) label.remove();
}

function isNestedPanel(panel: Element, group: Element): boolean {
  for (let at = panel.parentElement; at && at !== group; at = at.parentElement) {
    if (
      /tabpanel/.test(at.getAttribute("role") ?? "") ||
      /(?:^|\s)tabbed-(?:block|content)(?:$|\s)/.test(classOf(at))
    ) {
      return at.getAttribute("role") === "tabpanel" || classOf(at).includes("tabbed-block");
    }
  }
  return false;
}

/** Words beside the code of a panel that are no text of their own: a button, a file's name. */
const MAX_BESIDE_CODE = 60;

function labelPanel(panel: Element, label: string): void {
  const pres = [...panel.querySelectorAll("pre")];
  const codeLength = pres.reduce((length, pre) => length + textOf(pre).length, 0);
  const [pre] = pres;
  if (pre && textOf(panel).length - codeLength < MAX_BESIDE_CODE) pre.setAttribute("data-label", label);
  else panel.insertBefore(build(panel, "p", {}, build(panel, "strong", {}, label)), panel.firstChild);
}

/** A list item's check box becomes a class and a sign that can be read. */
export function canonicalTask(input: Element): void {
  if (nameOf(input) !== "INPUT" || input.getAttribute("type")?.toLowerCase() !== "checkbox") return;
  let item: Element | null = input.parentElement;
  for (let step = 0; item && step < 3 && nameOf(item) !== "LI"; step++) item = item.parentElement;
  if (!item || nameOf(item) !== "LI" || item.hasAttribute("data-seen-box")) return;
  // Only the first box of an item can be its own.
  item.setAttribute("data-seen-box", "");
  const before = textBefore(input, item);
  if (before.trim() !== "") return;
  // What readers may tick is a filter, or folds a thread; rendered tasks are for reading.
  const isTask = input.hasAttribute("disabled") || /task|todo|checklist/i.test(namesAround(item));
  if (!isTask) return;
  const isDone = input.hasAttribute("checked");
  item.setAttribute("class", isDone ? "task-list-item done" : "task-list-item");
}

const namesAround = (item: Element): string =>
  `${classOf(item).slice(0, 300)} ${item.parentElement ? classOf(item.parentElement).slice(0, 300) : ""}`;

function textBefore(node: Node, root: Node): string {
  for (let at: Node = node; at !== root; at = at.parentNode as Node) {
    for (let before = at.previousSibling; before; before = before.previousSibling) {
      if (before.nodeType !== 8 && textOf(before).trim() !== "") return textOf(before);
    }
  }
  return "";
}

/** The image that a script would load, where the page says it only to readers without scripts. */
export function canonicalNoscript(element: Element): Element | null | undefined {
  if (nameOf(element) !== "NOSCRIPT") return undefined;
  const image = element.querySelector("img");
  if (!image) return null;
  const before = element.previousElementSibling ?? element.parentElement;
  const lazy = before && (nameOf(before) === "IMG" ? before : before.querySelector("img"));
  if (!lazy || lazy === image) return image;
  if (bestImageSource(lazy) !== null) return null;
  lazy.remove();
  return image;
}

const VIDEO_HOSTS =
  /^(?:https?:)?\/\/(?:www\.|player\.|m\.)?(?:youtube\.com|youtube-nocookie\.com|youtu\.be|vimeo\.com|dailymotion\.com|geo\.dailymotion\.com|twitch\.tv|ted\.com|embed\.ted\.com|fast\.wistia\.(?:net|com)|loom\.com|player\.bilibili\.com|bilibili\.com|rutube\.ru|archive\.org|open\.spotify\.com|w\.soundcloud\.com|peertube\.[\w.]+)\//i;

/** Whether the start tag of a frame may name the address of a video. */
export const isVideoSource = (startTag: string): boolean =>
  /youtu|vimeo|dailymotion|twitch|ted\.com|wistia|loom|bilibili|rutube|archive\.org|spotify|soundcloud|peertube|&(?!amp;)/i.test(
    startTag,
  );

/** A video or audio piece as a link to it; undefined when the element embeds none. */
export function canonicalMedia(element: Element): Element | undefined {
  const name = nameOf(element);
  const source = mediaSource(element, name);
  if (source === null) return undefined;
  const title = (element.getAttribute("title") || element.getAttribute("aria-label") || "")
    .replace(/\s+/g, " ")
    .trim();
  const link = build(
    element,
    "a",
    { href: watchUrl(source) },
    title || (name === "AUDIO" ? "Audio" : "Video"),
  );
  return build(element, "p", {}, link);
}

function mediaSource(element: Element, name: string): string | null {
  if (name === "VIDEO" || name === "AUDIO") {
    // A video that plays by itself, without sound or end, is the background of something else.
    if (!element.hasAttribute("controls") && element.hasAttribute("autoplay")) return null;
    const source = element.getAttribute("src") ?? element.querySelector("source[src]")?.getAttribute("src");
    return source && !/^(?:blob|data):/i.test(source) ? source : null;
  }
  if (name === "LITE-YOUTUBE")
    return `https://www.youtube.com/watch?v=${element.getAttribute("videoid") ?? ""}`;
  if (name !== "IFRAME" && name !== "EMBED") return null;
  for (const attribute of ["src", "data-src", "data-lazy-src"]) {
    const source = element.getAttribute(attribute)?.trim() ?? "";
    if (VIDEO_HOSTS.test(source)) return source;
  }
  return null;
}

// An address for people instead of one for frames.
function watchUrl(source: string): string {
  const youtube = /youtube(?:-nocookie)?\.com\/embed\/([\w-]{6,20})/.exec(source)?.[1];
  if (youtube) return `https://www.youtube.com/watch?v=${youtube}`;
  const vimeo = /player\.vimeo\.com\/video\/(\d+)/.exec(source)?.[1];
  return vimeo ? `https://vimeo.com/${vimeo}` : source;
}

/** Whether a quotation opens with GitHub's own mark of an alert, and which. */
export function alertMark(element: Element): AdmonitionKind | null {
  const first = element.firstElementChild;
  if (!isElement(first)) return null;
  const mark = /^\s*\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]/.exec(textOf(first).slice(0, 40))?.[1];
  return mark ? (KINDS[mark.toLowerCase()] ?? null) : null;
}
