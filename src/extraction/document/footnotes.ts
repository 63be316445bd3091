import {
  ancestorWhere,
  build,
  classesOf,
  classOf,
  isElement,
  moveChildren,
  nameOf,
  textOf,
  walkElements,
} from "./element.ts";

/*
 * Footnotes of all generators become <sup><a class="footnote-ref" href="#fn-N">N</a></sup> and
 * <li class="footnote" id="fn-N"> (or a <div>), N counting from 1 in the order of the references.
 */

const REF_HINT = /foot-?note|noteref|fnref|cite_ref|reference|(?:^|\s)fn(?:$|\s)|sdfootnote/i;
const NOTE_ID =
  /^(?:user-content-)?[_-]?(?:fn|cite_note|footnote|ftn|edn|note|en|sdfootnote|fnt|endnote)s?(?:def)?[-_:.]?/i;
const NOTES_HINT = /foot-?notes?|endnotes?|references|notes/i;
const BACK_HINT = /backref|back-?link|reversefootnote|cite_ref|fnref/i;
// Arrows with their variation selectors, letters for several references, brackets.
const BACK_TEXT = /^(?:[\s\u2190-\u21ff\u2900-\u297f\u23cea-z,()[\]^\d]|\u{1f519}|\ufe0e|\ufe0f){0,40}$/u;
const SHOWN_LABEL = /^[[(]?\s*(?:note\s+)?[\p{L}\d*†‡§¶]{1,4}\s*[\])]?$/iu;

type Reference = { readonly anchor: Element; readonly note: Element; readonly id: string };

/** Finds the page's footnotes and gives them their one form, in place. */
export function canonicalFootnotes(root: Element): void {
  const references = findReferences(root);
  if (references.length === 0) return;
  const numbers = new Map<Element, number>();
  for (const { anchor, note } of references) {
    const number = numbers.get(note) ?? numbers.size + 1;
    numbers.set(note, number);
    replaceReference(anchor, number);
  }
  for (const [note, number] of numbers) rewriteNote(note, number);
}

function findReferences(root: Element): Reference[] {
  const anchors: { anchor: Element; id: string; order: number }[] = [];
  const byId = new Map<string, { element: Element; order: number }>();
  let order = 0;
  walkElements(root, (element) => {
    order++;
    for (const id of [
      element.getAttribute("id"),
      nameOf(element) === "A" ? element.getAttribute("name") : null,
    ]) {
      if (id && !byId.has(id)) byId.set(id, { element, order });
    }
    if (nameOf(element) === "A") {
      const id = fragmentOf(element);
      if (id !== null && SHOWN_LABEL.test(textOf(element).trim().slice(0, 20)))
        anchors.push({ anchor: element, id, order });
    }
    return false;
  });
  const references: Reference[] = [];
  for (const { anchor, id, order: at } of anchors) {
    const target = byId.get(id);
    if (!target || target.order < at || !looksLikeReference(anchor, id)) continue;
    const note = noteAround(target.element);
    if (note && !note.contains(anchor) && looksLikeNote(note, id)) references.push({ anchor, note, id });
  }
  return references;
}

function fragmentOf(anchor: Element): string | null {
  const href = anchor.getAttribute("href") ?? "";
  const at = href.indexOf("#");
  // Some generators write the page's own address before it.
  if (at < 0 || at === href.length - 1 || href.length > 300) return null;
  if (at > 0 && !/(?:fn|note)/i.test(href.slice(at))) return null;
  return safeDecode(href.slice(at + 1));
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // no percent-encoding after all: the id is what stands there
  }
}

function looksLikeReference(anchor: Element, id: string): boolean {
  const isHinted = (element: Element): boolean =>
    REF_HINT.test(classOf(element)) ||
    nameOf(element) === "SUP" ||
    element.hasAttribute("data-footnote-ref") ||
    element.getAttribute("role") === "doc-noteref" ||
    REF_HINT.test(element.getAttribute("id") ?? "");
  if (isHinted(anchor) || anchor.querySelector("sup")) return true;
  return (
    ancestorWhere(anchor, 2, isHinted) !== null ||
    (NOTE_ID.test(id) && /^\[.*\]$/.test(textOf(anchor).trim()))
  );
}

const NOTE_NAMES = new Set(["LI", "DD", "ASIDE", "DIV", "P", "TR"]);

function noteAround(target: Element): Element | null {
  if (nameOf(target) === "DT" && target.nextElementSibling) return target.nextElementSibling;
  if (nameOf(target) === "TABLE") return target;
  let at: Element | null = target;
  for (let step = 0; at && step < 4; step++, at = at.parentElement) {
    // A paragraph that holds the number alone is a part of the note.
    const isLabel =
      nameOf(at) === "P" && at.nextElementSibling && textOf(at).trim() === textOf(target).trim();
    if (NOTE_NAMES.has(nameOf(at)) && !isLabel) return at;
  }
  return null;
}

function looksLikeNote(note: Element, id: string): boolean {
  if (NOTE_ID.test(id)) return true;
  const says = (element: Element): boolean =>
    NOTES_HINT.test(classOf(element)) ||
    NOTES_HINT.test(element.getAttribute("id") ?? "") ||
    /doc-(?:endnotes?|footnote)/.test(element.getAttribute("role") ?? "");
  return says(note) || ancestorWhere(note, 3, says) !== null;
}

function replaceReference(anchor: Element, number: number): void {
  let outer: Element = anchor;
  const label = textOf(anchor).trim();
  for (let parent = outer.parentElement; parent; parent = outer.parentElement) {
    // A paragraph may hold thousands of references, so its text is not looked at.
    if (!/^(?:SUP|SPAN|A|CITE|SMALL|DOC-FOOTNOTE)$/.test(nameOf(parent))) break;
    if (textOf(parent).replace(/[\s[\]()]/g, "") !== label.replace(/[\s[\]()]/g, "")) break;
    outer = parent;
  }
  const link = build(anchor, "a", { class: "footnote-ref", href: `#fn-${number}` }, String(number));
  outer.replaceWith(build(anchor, "sup", {}, link));
}

function rewriteNote(note: Element, number: number): void {
  dropBackLinks(note);
  dropLabel(note);
  dropFrame(note);
  const isItem = nameOf(note) === "LI";
  const target = build(note, isItem ? "li" : "div", { class: "footnote", id: `fn-${number}` });
  if (nameOf(note) === "TABLE" || nameOf(note) === "TR") {
    const cells = [...note.querySelectorAll("td")];
    moveChildren(cells.at(-1) ?? note, target);
  } else moveChildren(note, target);
  if (nameOf(note) === "DD") liftOutOfList(note, target);
  else note.replaceWith(target);
}

// In old docutils the note is a definition whose term is the number.
function liftOutOfList(note: Element, target: Element): void {
  const list = note.parentElement;
  const term = note.previousElementSibling;
  if (term && nameOf(term) === "DT") term.remove();
  if (list?.parentNode && nameOf(list) === "DL") {
    list.parentNode.insertBefore(target, list);
    note.remove();
    if (!list.firstElementChild) list.remove();
  } else note.replaceWith(target);
}

const BACK_MARKS = new Set(["mw-cite-backlink", "footnote-backref", "fn-backref"]);
const LABELS = new Set(["label", "footnote-number", "footnote-label"]);

// One walk for each note: a selector costs as much as a note does.
function dropBackLinks(note: Element): void {
  const marks: Element[] = [];
  const links: Element[] = [];
  walkElements(note, (element) => {
    const classes = classOf(element) === "" ? [] : classesOf(element);
    const isBracket = classes.includes("fn-bracket") && element.parentElement !== null;
    const isMark =
      classes.some((word) => BACK_MARKS.has(word)) ||
      (isBracket && classesOf(element.parentElement!).includes("label"));
    if (isMark) marks.push(element);
    else if (nameOf(element) === "A" && element.hasAttribute("href")) links.push(element);
    return isMark;
  });
  for (const mark of marks) mark.remove();
  for (const link of links) if (isBackLink(link)) dropWithFrame(link, note);
}

function isBackLink(link: Element): boolean {
  const text = textOf(link);
  if (!BACK_TEXT.test(text)) return false;
  const href = link.getAttribute("href") ?? "";
  return (
    BACK_HINT.test(classOf(link)) ||
    link.hasAttribute("data-footnote-backref") ||
    link.getAttribute("role") === "doc-backlink" ||
    (href.includes("#") && (BACK_HINT.test(href) || /ref/i.test(href) || /[↩↑^↵⤴]/u.test(text)))
  );
}

function dropWithFrame(link: Element, note: Element): void {
  const parent = link.parentElement;
  const isAlone = parent && parent !== note && textOf(parent).trim() === textOf(link).trim();
  if (isAlone && /^(?:SUP|SPAN|P)$/.test(nameOf(parent))) parent.remove();
  else link.remove();
}

/** The number that a note starts with, as the list does not say it; what is left of `[1].` goes along. */
function dropLabel(note: Element): void {
  const labels: Element[] = [];
  walkElements(note, (element) => {
    const isLabel = classOf(element) !== "" && classesOf(element).some((word) => LABELS.has(word));
    if (isLabel) labels.push(element);
    return isLabel;
  });
  for (const label of labels) label.remove();
  if (nameOf(note) === "LI") return;
  const first = firstText(note);
  if (!first) return;
  const text = first.nodeValue ?? "";
  first.nodeValue = text.replace(/^\s*(?:\[?\d{1,3}\]?\s*[.:)]|\[\d{1,3}\]|\.)\s*/, "");
}

function firstText(root: Element): Node | null {
  let node: Node | null = root;
  while (node) {
    if (node.nodeType === 3 && (node.nodeValue ?? "").trim() !== "") return node;
    node = node.firstChild ?? nextOf(node, root);
  }
  return null;
}

function nextOf(node: Node, root: Node): Node | null {
  for (let at: Node | null = node; at && at !== root; at = at.parentNode)
    if (at.nextSibling) return at.nextSibling;
  return null;
}

/** The rule and the heading for the ears only that stand above the notes. */
function dropFrame(note: Element): void {
  const frame = ancestorWhere(
    note,
    3,
    (element) => NOTES_HINT.test(classOf(element)) || NOTES_HINT.test(element.id),
  );
  if (!frame) return;
  for (let child = frame.firstChild; child; ) {
    const next: ChildNode | null = child.nextSibling;
    const isMark =
      isElement(child) && (nameOf(child) === "HR" || /sr-only|visually-?hidden/.test(classOf(child)));
    if (isMark) frame.removeChild(child);
    else if (isElement(child)) break;
    child = next;
  }
}
