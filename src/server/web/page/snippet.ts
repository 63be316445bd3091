import { h } from "./dom.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/**
 * Turns a snippet of the server (escaped text, `<mark>` around matches, `<code>` around code) into nodes; any other
 * tag stays text.
 */
export function snippetNodes(snippet: string): Node[] {
  const nodes: Node[] = [];
  let code: HTMLElement | null = null;
  let isMarked = false;
  for (const part of snippet.split(/(<\/?(?:mark|code)>)/)) {
    if (part === "<mark>" || part === "</mark>") isMarked = part === "<mark>";
    else if (part === "<code>") {
      code = h("code");
      nodes.push(code);
    } else if (part === "</code>") code = null;
    else if (part !== "") {
      const text = part.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
      const node = isMarked ? h("mark", text) : document.createTextNode(text);
      if (code) code.append(node);
      else nodes.push(node);
    }
  }
  return nodes;
}
