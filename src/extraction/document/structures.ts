import { bestImageSource } from "../images.ts";
import { build, classOf, nameOf, textOf } from "./element.ts";

/* Tab groups, task items and embedded media of all generators, in one form each. */

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
