import { h } from "../dom.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/**
 * Turns a snippet of the server (escaped text, `<mark>` around matches) into nodes; any other tag stays text.
 */
export function snippetNodes(snippet: string): Node[] {
  const nodes: Node[] = [];
  for (const [place, part] of snippet.split(/<mark>|<\/mark>/).entries()) {
    const text = part.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
    if (text !== "") nodes.push(place % 2 === 1 ? h("mark", {}, text) : document.createTextNode(text));
  }
  return nodes;
}
