import { readInline } from "./inline.ts";

const MARKS = /!?\[|\*{1,3}|~~|\]|(?<!\w)__?(?=\w)|(?<=\w)__?(?!\w)/g;
// Components (`<Badge/>`) are no words of a heading either.
const TAG = /<\/?[A-Za-z][^<>]{0,300}>/g;

/** The plain text of a heading: without marks, link targets and tags; code as it is. */
export function headingText(markdown: string, start: number, end: number): string {
  let plain = "";
  readInline(markdown, start, end, (text, from, to, isCode) => {
    const part = text.slice(from, to);
    plain += isCode ? part : part.replace(TAG, "").replace(MARKS, "");
  });
  return plain.trim();
}
