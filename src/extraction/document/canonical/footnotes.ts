import { decodeLoosely } from "../../../base/text.ts";
import {
  ancestorWhere,
  build,
  type ContentElement,
  type ContentNode,
  type ContentText,
  find,
  findAll,
  isElement,
  moveChildren,
  named,
  nextNode,
  textOf,
  walkElements,
} from "../tree.ts";

/*
 * Footnotes of all generators become <sup><a class="footnote-ref" href="#fn-N">N</a></sup> and
 * <li class="footnote" id="fn-N"> (or a <div>), N counting from 1 in the order of the references.
 */

const REF_HINT = /foot-?note|noteref|fnref|cite_ref|reference|(?:^|\s)fn(?:$|\s)|sdfootnote/i;
const NOTE_ID =
  /^(?:user-content-)?[_-]?(?:fn|cite_note|footnote|ftn|edn|note|en|sdfootnote|fnt|endnote)s?(?:def)?[-_:.]?/i;
const NOTES_HINT = /foot-?notes?|endnotes?|references|notes/i;
const BACK_HINT = /backref|back-?link|reversefootnote|cite_ref|fnref/i;
// Matches arrows with their variation selectors, letters for several references, and brackets.
const BACK_TEXT = /^(?:[\s\u2190-\u21ff\u2900-\u297f\u23cea-z,()[\]^\d]|\u{1f519}|\ufe0e|\ufe0f){0,40}$/u;
const SHOWN_LABEL = /^[[(]?\s*(?:note\s+)?[\p{L}\d*†‡§¶]{1,4}\s*[\])]?$/iu;

type Reference = { readonly anchor: ContentElement; readonly note: ContentElement; readonly id: string };

/** Rewrites the page's footnotes in place into one form. */
export function canonicalFootnotes(root: ContentElement): void {
  moveSidenotes(root);
  const references = findReferences(root);
  if (references.length === 0) return;
  const numbers = new Map<ContentElement, number>();
  for (const { anchor, note } of references) {
    const number = numbers.get(note) ?? numbers.size + 1;
    numbers.set(note, number);
    replaceReference(anchor, number);
  }
  for (const [note, number] of numbers) rewriteNote(note, number);
}

const SIDENOTE = /(?:^|[\s_-])(?:side|margin)-?notes?(?=$|\s)/i;
const mayBeSidenote = named("SPAN SMALL");

/** Moves the notes that stand in the margin, written where their sign stands, behind the text. */
function moveSidenotes(root: ContentElement): void {
  for (const [index, note] of findAll(root, isSidenote).entries()) {
    const id = `footnote-beside-${index + 1}`;
    for (let tool = toolBefore(note); tool; tool = toolBefore(note)) tool.remove();
    // A sign stands right behind its word.
    if (note.previousSibling?.kind === "text")
      note.previousSibling.text = note.previousSibling.text.trimEnd();
    const link = build("A", { href: `#${id}` }, String(index + 1));
    note.replaceWith(build("SUP", { class: "footnote-ref" }, link));
    const moved = build("LI", { id });
    moveChildren(note, moved);
    root.append(moved);
  }
}

/** Tells whether an element is a note in the margin by its name, or by the box and label that open it in its text. */
function isSidenote(element: ContentElement): boolean {
  if (!mayBeSidenote(element)) return false;
  const box = toolBefore(element);
  const label = box && toolBefore(box);
  const isOpened = box?.name === "INPUT" && label?.name === "LABEL" && label.getAttribute("for") === box.id;
  if (!isOpened && !SIDENOTE.test(element.className.slice(0, 200))) return false;
  const block = ancestorWhere(element, 6, isBlock);
  const tools = (label ? textOf(label) : "").length;
  return block !== null && textOf(block).trim().length > textOf(element).trim().length + tools;
}

const isBlock = named("P LI DD TD BLOCKQUOTE DIV SECTION ARTICLE");

/** Returns the label or the box right before a note in the margin. */
function toolBefore({ previousSibling: before }: ContentElement): ContentElement | null {
  const at = before?.kind === "text" && before.text.trim() === "" ? before.previousSibling : before;
  return isElement(at) && (at.name === "LABEL" || at.name === "INPUT") ? at : null;
}

function findReferences(root: ContentElement): Reference[] {
  const anchors: { anchor: ContentElement; id: string; order: number }[] = [];
  const byId = new Map<string, { element: ContentElement; order: number }>();
  let order = 0;
  walkElements(root, (element) => {
    order++;
    for (const id of [element.id, element.name === "A" ? element.getAttribute("name") : null])
      if (id && !byId.has(id)) byId.set(id, { element, order });
    if (element.name === "A") {
      const id = fragmentOf(element);
      if (id !== null && SHOWN_LABEL.test(textOf(element).trim().slice(0, 20)))
        anchors.push({ anchor: element, id, order });
    }
    return false;
  });
  const references: Reference[] = [];
  for (const { anchor, id, order: at } of anchors) {
    const target = byId.get(id);
    if (!target || target.order < at) continue;
    const note = noteAround(target.element);
    if (!note || note.contains(anchor)) continue;
    const back = linkBack(note, anchor);
    // An element that leads back to its reference, with a number in brackets on both sides, is a note whatever its names.
    back?.setAttribute("data-footnote-backref", "");
    if (back || (looksLikeReference(anchor, id) && looksLikeNote(note, id)))
      references.push({ anchor, note, id });
  }
  return references;
}

/** The link of a note to the name of its reference, where both are a number in brackets; null for none. */
function linkBack(note: ContentElement, anchor: ContentElement): ContentElement | null {
  const name = anchor.getAttribute("name") || anchor.id;
  if (!name || !IN_BRACKETS.test(textOf(anchor).trim())) return null;
  const first = find(note, isLink);
  const isBack = first !== null && fragmentOf(first) === name && IN_BRACKETS.test(textOf(first).trim());
  return isBack ? first : null;
}

const isLink = named("A");
const IN_BRACKETS = /^[[(]\d{1,3}[\])]$/;

function fragmentOf(anchor: ContentElement): string | null {
  const href = anchor.getAttribute("href") ?? "";
  const at = href.indexOf("#");
  // Some generators write the page's own address before it.
  if (at < 0 || at === href.length - 1 || href.length > 300) return null;
  if (at > 0 && !/(?:fn|note)/i.test(href.slice(at))) return null;
  return decodeLoosely(href.slice(at + 1));
}

function looksLikeReference(anchor: ContentElement, id: string): boolean {
  const isHinted = (element: ContentElement): boolean =>
    REF_HINT.test(element.className) ||
    element.name === "SUP" ||
    element.hasAttribute("data-footnote-ref") ||
    element.getAttribute("role") === "doc-noteref" ||
    REF_HINT.test(element.id);
  if (isHinted(anchor) || find(anchor, isRaised)) return true;
  return (
    ancestorWhere(anchor, 2, isHinted) !== null ||
    (NOTE_ID.test(id) && /^\[.*\]$/.test(textOf(anchor).trim()))
  );
}

const isRaised = named("SUP");
const isCell = named("TD");

const NOTE_NAMES = new Set(["LI", "DD", "ASIDE", "DIV", "P", "TR"]);

function noteAround(target: ContentElement): ContentElement | null {
  if (target.name === "DT" && target.nextElementSibling) return target.nextElementSibling;
  if (target.name === "TABLE") return target;
  let at: ContentElement | null = target;
  for (let step = 0; at && step < 4; step++, at = at.parent) {
    // A paragraph that contains only the number is a part of the note.
    const isLabel = at.name === "P" && at.nextElementSibling && textOf(at).trim() === textOf(target).trim();
    if (NOTE_NAMES.has(at.name) && !isLabel) return at;
  }
  return null;
}

function looksLikeNote(note: ContentElement, id: string): boolean {
  if (NOTE_ID.test(id)) return true;
  const says = (element: ContentElement): boolean =>
    NOTES_HINT.test(element.className) ||
    NOTES_HINT.test(element.id) ||
    /doc-(?:endnotes?|footnote)/.test(element.getAttribute("role") ?? "");
  return says(note) || ancestorWhere(note, 3, says) !== null;
}

function replaceReference(anchor: ContentElement, number: number): void {
  let outer: ContentElement = anchor;
  const label = textOf(anchor).trim();
  for (let parent = outer.parent; parent; parent = outer.parent) {
    // A paragraph may contain thousands of references, so its text is not read.
    if (!/^(?:SUP|SPAN|A|CITE|SMALL|DOC-FOOTNOTE)$/.test(parent.name)) break;
    if (textOf(parent).replace(/[\s[\]()]/g, "") !== label.replace(/[\s[\]()]/g, "")) break;
    outer = parent;
  }
  const link = build("A", { class: "footnote-ref", href: `#fn-${number}` }, String(number));
  outer.replaceWith(build("SUP", {}, link));
}

function rewriteNote(note: ContentElement, number: number): void {
  dropBackLinks(note);
  dropLabel(note);
  dropFrame(note);
  const isItem = note.name === "LI";
  const target = build(isItem ? "LI" : "DIV", { class: "footnote", id: `fn-${number}` });
  if (note.name === "TABLE" || note.name === "TR") {
    const cells = findAll(note, isCell);
    moveChildren(cells.at(-1) ?? note, target);
  } else moveChildren(note, target);
  if (note.name === "DD") liftOutOfList(note, target);
  else note.replaceWith(target);
}

// In old docutils a note is a definition whose term is the number.
function liftOutOfList(note: ContentElement, target: ContentElement): void {
  const list = note.parent;
  const term = note.previousElementSibling;
  if (term && term.name === "DT") term.remove();
  if (list?.parent && list.name === "DL") {
    list.parent.insertBefore(target, list);
    note.remove();
    if (!list.firstElementChild) list.remove();
  } else note.replaceWith(target);
}

const BACK_MARKS = new Set(["mw-cite-backlink", "footnote-backref", "fn-backref"]);
const LABELS = new Set(["label", "footnote-number", "footnote-label"]);

// Walks each note once, because the cost of each selector grows with the length of the note.
function dropBackLinks(note: ContentElement): void {
  const marks: ContentElement[] = [];
  const links: ContentElement[] = [];
  walkElements(note, (element) => {
    const classes = element.className === "" ? [] : element.classes;
    const isBracket = classes.includes("fn-bracket") && element.parent !== null;
    const isMark =
      classes.some((word) => BACK_MARKS.has(word)) ||
      (isBracket && element.parent!.classes.includes("label"));
    if (isMark) marks.push(element);
    else if (element.name === "A" && element.hasAttribute("href")) links.push(element);
    return isMark;
  });
  for (const mark of marks) mark.remove();
  for (const link of links) if (isBackLink(link)) dropWithFrame(link, note);
}

function isBackLink(link: ContentElement): boolean {
  const text = textOf(link);
  if (!BACK_TEXT.test(text)) return false;
  const href = link.getAttribute("href") ?? "";
  return (
    BACK_HINT.test(link.className) ||
    link.hasAttribute("data-footnote-backref") ||
    link.getAttribute("role") === "doc-backlink" ||
    (href.includes("#") && (BACK_HINT.test(href) || /ref/i.test(href) || /[↩↑^↵⤴]/u.test(text)))
  );
}

function dropWithFrame(link: ContentElement, note: ContentElement): void {
  const parent = link.parent;
  const isAlone = parent && parent !== note && textOf(parent).trim() === textOf(link).trim();
  if (isAlone && /^(?:SUP|SPAN|P)$/.test(parent.name)) parent.remove();
  else link.remove();
}

/** Removes the number at the start of a note, which the list does not add, and the rest of `[1].`. */
function dropLabel(note: ContentElement): void {
  const labels: ContentElement[] = [];
  walkElements(note, (element) => {
    const isLabel = element.className !== "" && element.classes.some((word) => LABELS.has(word));
    if (isLabel) labels.push(element);
    return isLabel;
  });
  for (const label of labels) label.remove();
  if (note.name === "LI") return;
  const first = firstText(note);
  if (!first) return;
  first.text = first.text.replace(/^\s*(?:\[?\d{1,3}\]?\s*[.:)]|\[\d{1,3}\]|\.)\s*/, "");
}

function firstText(root: ContentElement): ContentText | null {
  for (let node = root.firstChild; node; node = nextNode(node, root))
    if (node.kind === "text" && node.text.trim() !== "") return node;
  return null;
}

/** Removes the rule and the heading for screen readers above the notes. */
function dropFrame(note: ContentElement): void {
  const frame = ancestorWhere(
    note,
    3,
    (element) => NOTES_HINT.test(element.className) || NOTES_HINT.test(element.id),
  );
  if (!frame) return;
  for (let child = frame.firstChild; child; ) {
    const next: ContentNode | null = child.nextSibling;
    if (child.kind === "element") {
      if (child.name !== "HR" && !/sr-only|visually-?hidden/.test(child.className)) break;
      child.remove();
    }
    child = next;
  }
}
