import { ElementFlag, type PageModel } from "../page/page-model.ts";
import { FIRST_UNKNOWN_TAG, TAG_LIMIT, Tag, tagId } from "../page/tags.ts";

// Elements that mean something to a reader; all others only hold these.
const MEANINGFUL = tagSet(
  `p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption thead tbody tfoot tr td th blockquote pre figure
   figcaption details summary address a b strong i em u s del ins mark small sub sup code kbd samp var q cite
   abbr time dfn bdi bdo ruby rt rp label`,
);
// Elements whose class may say what they hold: an admonition, footnotes, a task.
const CLASSED = tagSet("div span section article aside main header footer hgroup");
/** Deeper levels add nothing that a reader could see. */
const MAX_DEPTH = 120;

/** For each element the innermost one, itself included, that frames what it holds; -1 for none. */
export function framesOf(model: PageModel): Int32Array {
  const { elementCount, parent, tag, flags } = model;
  const frame = new Int32Array(elementCount);
  const depth = new Uint8Array(elementCount);
  for (let element = 0; element < elementCount; element++) {
    const above = parent[element]!;
    const outer = above < 0 ? -1 : frame[above]!;
    const outerDepth = outer < 0 ? 0 : depth[outer]!;
    const kind = tag[element]!;
    // `<a name>` marks a place, and a link that an application follows by script leads nowhere here.
    const isMeaningful =
      MEANINGFUL[kind] === 1 && (kind !== Tag.a || (flags[element]! & ElementFlag.link) !== 0);
    const isFrame = outerDepth < MAX_DEPTH && (isMeaningful || saysByName(model, element));
    frame[element] = isFrame ? element : outer;
    if (isFrame) depth[element] = outerDepth + 1;
  }
  return frame;
}

const PANEL_GROUP = 1 << 23;

function saysByName({ tag, classId, idId, groups, html, openStart }: PageModel, element: number): boolean {
  const kind = tag[element]!;
  if (CLASSED[kind] === 1) {
    return classId[element] !== 0 || idId[element] !== 0 || (groups[element]! & PANEL_GROUP) !== 0;
  }
  return kind >= FIRST_UNKNOWN_TAG && html.startsWith("<starlight-tabs", openStart[element]);
}

/** One for each tag of these names. */
function tagSet(names: string): Uint8Array {
  const tags = new Uint8Array(TAG_LIMIT);
  for (const name of names.split(/\s+/)) tags[tagId(name)] = 1;
  return tags;
}
