import { bestImageSource } from "../../references.ts";
import {
  build,
  type ContentElement,
  type ContentNode,
  find,
  findAll,
  hasClass,
  named,
  textOf,
} from "../tree.ts";

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
const isImage = named("IMG");
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

/** Turns a list item's check box into a class and a readable sign. */
export function canonicalTask(input: ContentElement): void {
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
    for (let before = at.previousSibling; before; before = before.previousSibling) {
      if (textOf(before).trim() !== "") return textOf(before);
    }
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
  if (name === "LITE-YOUTUBE")
    return `https://www.youtube.com/watch?v=${element.getAttribute("videoid") ?? ""}`;
  if (name !== "IFRAME" && name !== "EMBED") return null;
  for (const attribute of ["src", "data-src", "data-lazy-src"]) {
    const source = element.getAttribute(attribute)?.trim() ?? "";
    if (VIDEO_HOSTS.test(source)) return source;
  }
  return null;
}

// Replaces an address for frames with one for people.
function watchUrl(source: string): string {
  const youtube = /youtube(?:-nocookie)?\.com\/embed\/([\w-]{6,20})/.exec(source)?.[1];
  if (youtube) return `https://www.youtube.com/watch?v=${youtube}`;
  const vimeo = /player\.vimeo\.com\/video\/(\d+)/.exec(source)?.[1];
  return vimeo ? `https://vimeo.com/${vimeo}` : source;
}
