import { type ChosenContent, walkContent } from "./content-walk.ts";
import { TextSink } from "./text-sink.ts";

export type PlainText = {
  readonly text: string;
  /** False where only the document model can tell what the text is: tables, code, formulas, notes and tabs. */
  readonly isExact: boolean;
};

/** The text of chosen content without a document, which costs a third of the time that one takes. */
export function plainTextOf(chosen: ChosenContent): PlainText {
  const sink = new TextSink(chosen.model);
  walkContent(chosen, sink);
  const text = sink.finish();
  const isExact =
    sink.isExact && !ALERT.test(text) && !mayHoldTex(text, chosen.model.html) && !holdsStructures(chosen);
  return { text, isExact };
}

/** GitHub's own mark of an alert, as its Markdown has it. */
const ALERT = /\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]/;

/** Names that the document model reads something from. */
const STRUCTURE_NAME =
  /katex|mathjax|mwe-math|(?:^|\s)math(?:\s|$)|foot-?note|noteref|fnref|cite[_-](?:ref|note)|(?:^|[\s_-])(?:fn|ftn|edn|sdfootnote|endnote|note|en)s?(?:def)?[-_:.]?(?:\d|[a-f\d]{8})|(?:^|\s)(?:fn|NOTE|TIP|IMPORTANT|WARNING|CAUTION|alert|hint|callout|custom-block|starlight-aside|tabs?|tab-set|tab-?group|sphinx-tabs|content-tabs|code-tabs|code-group)(?:\s|$)|admonition|markdown-alert|tabbed-set|tabs-container|tab-set|code-group|starlight-tabs|tabs-wrapper|syntaxhighlighter|crayon/i;

/** Whether chosen text stands in an element that is called one of these. */
function holdsStructures({ model, blocks }: ChosenContent): boolean {
  const { names, elementCount, parent, classId, idId, textParent } = model;
  const isNamed = names.map((name) => STRUCTURE_NAME.test(name.slice(0, 1000)));
  if (!isNamed.includes(true)) return false;
  const isInside = new Uint8Array(elementCount);
  for (let element = 0; element < elementCount; element++) {
    const outer = parent[element]!;
    const isOwn = isNamed[classId[element]!] === true || isNamed[idId[element]!] === true;
    isInside[element] = isOwn || (outer >= 0 && isInside[outer] === 1) ? 1 : 0;
  }
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index]!;
    for (let text = model.blocks.firstText[block]!; text < model.blocks.endText[block]!; text++) {
      if (isInside[textParent[text]!] === 1) return true;
    }
  }
  return false;
}

/** Whether `$…$` and the like in the text may be formulas, which a script of the page draws. */
const mayHoldTex = (text: string, html: string): boolean => /\$|\\[([]/.test(text) && drawsTex(html);

/** Whether a script of the page draws formulas from their TeX. */
export const drawsTex = (html: string): boolean =>
  /mathjax|katex|auto-render/i.test(html) &&
  /<script\b[^>]{0,500}?\bsrc\s*=\s*["']?[^"'>]{0,500}?(?:mathjax|katex|auto-render)|\bMathJax\s*[=.{]|\brenderMathInElement\s*\(/i.test(
    html,
  );

/** The parts of a page as one text; null where one of them needs the document. */
export function joinExact(parts: readonly PlainText[]): string | null {
  if (!parts.every(({ isExact }) => isExact)) return null;
  return parts
    .map(({ text }) => text)
    .filter(Boolean)
    .join("\n\n");
}
