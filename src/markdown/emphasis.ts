import type { Inline } from "./model.ts";

/** A run of `*`, `_` or `~` that may turn out to be emphasis. */
export type Run = {
  readonly kind: "run";
  readonly sign: string;
  readonly count: number;
  readonly canOpen: boolean;
  readonly canClose: boolean;
};

export type Node = Inline | Run;

type OpenRun = { readonly run: Run; left: number; readonly children: Inline[] };

/** The maximum number of open runs; further ones are text. */
const MAX_OPEN = 100;

/**
 * Turns runs into emphasis where an opening run meets a closing one (CommonMark 0.31, section 6.2, without the rule
 * of three), and into text elsewhere. It takes one pass: each open run keeps what follows it.
 */
export function resolveEmphasis(nodes: readonly Node[]): readonly Inline[] {
  const top: Inline[] = [];
  const open: OpenRun[] = [];
  const add = (inline: Inline): void => addTo(open.at(-1)?.children ?? top, inline);
  const drop = (): void => {
    const last = open.pop()!;
    if (last.left > 0) add({ kind: "text", text: last.run.sign.repeat(last.left) });
    for (const child of last.children) add(child);
  };
  for (const node of nodes) {
    if (node.kind !== "run") {
      add(node);
      continue;
    }
    let left = node.count;
    while (node.canClose && left > 0) {
      const opener = open.findLastIndex(({ run, left: rest }) => matches(run, node, rest, left));
      if (opener < 0) break;
      while (open.length > opener + 1) drop();
      const { children, left: rest, run } = open.pop()!;
      const used = Math.min(2, left, rest);
      const tag = node.sign === "~" ? "del" : used === 2 ? "strong" : "em";
      const span: Inline = { kind: "span", tag, children };
      left -= used;
      if (rest > used) open.push({ run, left: rest - used, children: [span] });
      else add(span);
    }
    if (left > 0 && node.canOpen && open.length < MAX_OPEN) open.push({ run: node, left, children: [] });
    else if (left > 0) add({ kind: "text", text: node.sign.repeat(left) });
  }
  while (open.length > 0) drop();
  return top;
}

/** Strikethrough needs equally many signs on both sides. */
const matches = (opener: Run, closer: Run, openLeft: number, closeLeft: number): boolean =>
  opener.sign === closer.sign && (closer.sign !== "~" || openLeft === closeLeft);

function addTo(list: Inline[], inline: Inline): void {
  const last = list.at(-1);
  if (inline.kind === "text" && last?.kind === "text")
    list[list.length - 1] = { kind: "text", text: last.text + inline.text };
  else list.push(inline);
}
