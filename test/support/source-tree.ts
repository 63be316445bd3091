import { dirname, join } from "node:path/posix";
import { parseSync, Visitor } from "oxc-parser";

/** One module that a file names, in any way: statement, type, dynamic import, require, worker URL. */
export type Reference = {
  /** A path from the repository's root, or a package; null where it is computed and cannot be checked. */
  readonly target: string | null;
  /** The names taken, as the other file exports them; "*" stands for all. */
  readonly names: readonly string[];
  readonly isTypeOnly: boolean;
  /** Loaded together with the file, rather than when it asks. */
  readonly isStatic: boolean;
  readonly line: number;
};

/** The measures of a function; functions inside it count for themselves only, except in `lines`. */
export type FunctionSize = {
  name: string;
  line: number;
  lines: number;
  branches: number;
  parameters: number;
};

/** What a file of the tree holds; its path is relative to the repository's root, with `/`. */
export type Source = {
  readonly path: string;
  readonly references: readonly Reference[];
  /** For a file that only re-exports: the names it shows and where each one comes from. */
  readonly shown: ReadonlyMap<string, string>;
  /** Lines of statements that are no re-exports. */
  readonly statements: readonly number[];
  readonly functions: readonly FunctionSize[];
  /** Every identifier that is neither a property nor a key: names of values and types. */
  readonly words: ReadonlySet<string>;
  readonly environmentReads: readonly number[];
  /** Lines that take hold of `fetch` or of a connection that the platform opens. */
  readonly networkUses: readonly number[];
};

// The parser's nodes have a type for each kind; the rules need the few fields that these share.
// biome-ignore lint/suspicious/noExplicitAny: nodes of every kind
type Node = any;

const BRANCHES =
  "IfStatement ConditionalExpression ForStatement ForOfStatement ForInStatement WhileStatement DoWhileStatement CatchClause LogicalExpression SwitchCase";
const CONNECTIONS = /^(?:WebSocket|EventSource|XMLHttpRequest)$/;
const nameOf = (node: Node): string => node?.name ?? node?.value ?? "";

/** Reads one file with the parser that the tool for dead code uses. */
export function readSource(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const references: Reference[] = [];
  const shown = new Map<string, string>();
  const functions: FunctionSize[] = [];
  const open: FunctionSize[] = [];
  const words = new Set<string>();
  const environmentReads: number[] = [];
  const networkUses: number[] = [];
  const fetches: number[] = [];
  let isFetchOwn = false;
  // Where an identifier is the name of a member, and stands for no variable.
  const keys = new Set<number>();

  const refer = (node: Node, source: Node, rest: Partial<Reference> = {}): void => {
    const specifier = source?.type === "TemplateLiteral" ? source.quasis[0]?.value.cooked : source?.value;
    const isText = typeof specifier === "string" && !source.expressions?.length;
    references.push({
      target: !isText ? null : specifier.startsWith(".") ? join(dirname(path), specifier) : specifier,
      names: ["*"],
      isTypeOnly: false,
      isStatic: false,
      line: lineAt(node.start),
      ...rest,
    });
  };
  const referStatement = (node: Node, own: (one: Node) => Node, kind: "importKind" | "exportKind"): void => {
    if (!node.source) return;
    const specifiers: Node[] = node.specifiers ?? [];
    const isType = (one: Node): boolean => one[kind] === "type";
    const isTypeOnly = isType(node) || (specifiers.length > 0 && specifiers.every(isType));
    // A type beside values is no value: a walk along what runs must not follow it.
    const names = specifiers
      .filter((one) => isTypeOnly || !isType(one))
      .map((one) => nameOf(own(one)) || "*");
    refer(node, node.source, { names: node.specifiers ? names : ["*"], isTypeOnly, isStatic: true });
    const types = isTypeOnly ? [] : specifiers.filter(isType).map((one) => nameOf(own(one)));
    if (types.length > 0) refer(node, node.source, { names: types, isTypeOnly: true, isStatic: true });
  };
  const begin = (node: Node): void => {
    if (node.id) keys.add(node.id.start);
    const lines = lineAt(node.end) - lineAt(node.start) + 1;
    const size = {
      name: nameOf(node.id),
      line: lineAt(node.start),
      lines,
      branches: 1,
      parameters: node.params.length,
    };
    open.push(size);
    functions.push(size);
  };
  const end = (): void => {
    open.pop();
  };
  const branch = (node: Node): void => {
    const innermost = open.at(-1);
    if (innermost && (node.type !== "SwitchCase" || node.test)) innermost.branches++;
  };
  const member = (node: Node): void => {
    if (!node.computed) keys.add(node.property.start);
    const of = node.object.type === "MetaProperty" ? "import.meta" : nameOf(node.object);
    const name = nameOf(node.property);
    const isRuntime = /^(?:process|Bun|import\.meta)$/.test(of);
    if (isRuntime && (name === "env" || (node.computed && of !== "import.meta")))
      environmentReads.push(lineAt(node.start));
    if (/^(?:globalThis|window|self|Bun)$/.test(of) && name === "fetch") networkUses.push(lineAt(node.start));
    if (of === "Bun" && /^(?:connect|udpSocket|dns)$/.test(name)) networkUses.push(lineAt(node.start));
  };

  new Visitor({
    ImportDeclaration: (node) => referStatement(node, (one) => one.imported, "importKind"),
    ExportAllDeclaration: (node) => referStatement(node, (one) => one, "exportKind"),
    ExportNamedDeclaration: (node) => {
      referStatement(node, (one) => one.local, "exportKind");
      for (const { exported } of node.source ? node.specifiers : []) {
        const target = references.at(-1)?.target;
        if (target) shown.set(nameOf(exported), target);
      }
    },
    ImportExpression: (node) => refer(node, node.source),
    TSImportType: (node) => refer(node, node.source, { isTypeOnly: true }),
    CallExpression: (node) => {
      const callee = node.callee as Node;
      if (nameOf(callee) === "require" || nameOf(callee.object) === "require") refer(node, node.arguments[0]);
    },
    NewExpression: (node) => {
      const [url, base] = node.arguments as Node[];
      if (nameOf(node.callee) === "URL" && base?.object?.type === "MetaProperty") refer(node, url);
      if (CONNECTIONS.test(nameOf(node.callee))) networkUses.push(lineAt(node.start));
    },
    VariableDeclarator: (node) => {
      if (nameOf(node.id) === "fetch") isFetchOwn = true;
      const isRuntime = /^(?:process|Bun)$/.test(nameOf(node.init));
      const keys: Node[] = node.id.type === "ObjectPattern" ? node.id.properties : [];
      if (isRuntime && keys.some(({ key }) => nameOf(key) === "env"))
        environmentReads.push(lineAt(node.start));
    },
    // A file that gives the name to a value of its own does not mean the platform's function.
    ObjectPattern: ({ properties }) => {
      const bound = properties.map((one: Node) => nameOf(one.argument ?? one.value));
      if (bound.includes("fetch")) isFetchOwn = true;
    },
    MemberExpression: member,
    Identifier: (node) => {
      words.add(node.name);
      if (node.name === "fetch") fetches.push(node.start);
    },
    Property: (node) => {
      if (!node.shorthand) keys.add(node.key.start);
    },
    MethodDefinition: ({ key }) => void keys.add(key.start),
    TSMethodSignature: ({ key }) => void keys.add(key.start),
    TSPropertySignature: ({ key }) => void keys.add(key.start),
    TSTypeQuery: ({ exprName }) => void keys.add(exprName.start),
    FunctionDeclaration: begin,
    FunctionExpression: begin,
    ArrowFunctionExpression: begin,
    "FunctionDeclaration:exit": end,
    "FunctionExpression:exit": end,
    "ArrowFunctionExpression:exit": end,
    ...Object.fromEntries(BRANCHES.split(" ").map((type) => [type, branch])),
  }).visit(program);

  if (!isFetchOwn) networkUses.push(...fetches.filter((start) => !keys.has(start)).map(lineAt));
  const isReExport = (node: Node): boolean => node.type.startsWith("Export") && node.source;
  const statements = program.body.filter((node) => !isReExport(node)).map(({ start }) => lineAt(start));
  return { path, references, shown, statements, functions, words, environmentReads, networkUses };
}
