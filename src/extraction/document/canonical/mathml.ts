import { type ContentElement, type ContentNode, textOf } from "../tree.ts";

/** A deeper tree is not a formula. */
const MAX_DEPTH = 40;

const OPERATORS: Readonly<Record<string, string>> = {
  "×": "\\times",
  "÷": "\\div",
  "·": "\\cdot",
  "⋅": "\\cdot",
  "±": "\\pm",
  "∓": "\\mp",
  "≤": "\\le",
  "≥": "\\ge",
  "≠": "\\ne",
  "≈": "\\approx",
  "≡": "\\equiv",
  "∞": "\\infty",
  "∑": "\\sum",
  "∏": "\\prod",
  "∫": "\\int",
  "∂": "\\partial",
  "∇": "\\nabla",
  "∈": "\\in",
  "∉": "\\notin",
  "⊂": "\\subset",
  "⊆": "\\subseteq",
  "∪": "\\cup",
  "∩": "\\cap",
  "∀": "\\forall",
  "∃": "\\exists",
  "→": "\\to",
  "⇒": "\\Rightarrow",
  "↔": "\\leftrightarrow",
  "∼": "\\sim",
  "∝": "\\propto",
  "…": "\\dots",
  "⋯": "\\cdots",
  "−": "-",
  "′": "'",
  "\u2061": "",
  "\u2062": "",
  "\u2063": "",
  "\u00a0": " ",
};
const GREEK =
  "α alpha β beta γ gamma δ delta ε epsilon ϵ epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho σ sigma τ tau υ upsilon φ phi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Φ Phi Ψ Psi Ω Omega ℏ hbar ℓ ell ℝ mathbb{R} ℕ mathbb{N} ℤ mathbb{Z} ℂ mathbb{C} ℚ mathbb{Q}".split(
    " ",
  );
const SYMBOLS = new Map<string, string>(Object.entries(OPERATORS));
for (let index = 0; index + 1 < GREEK.length; index += 2) SYMBOLS.set(GREEK[index]!, `\\${GREEK[index + 1]}`);

const FUNCTIONS = new Set(
  "sin cos tan log ln exp lim max min sup inf det arg dim gcd sec csc cot".split(" "),
);

/** Converts presentation MathML (MathML Core) to TeX; elements without a rule are written as their text. */
export function texOfMathMl(math: ContentElement): string {
  return tidyTex(texOf(math, 0));
}

const tidyTex = (tex: string): string => tex.replace(/\s+/g, " ").trim();

function texOf(node: ContentNode, depth: number): string {
  if (node.kind === "text") return symbols(node.text);
  if (depth > MAX_DEPTH) return symbols(textOf(node));
  const children = node.children;
  const parts = (): string[] => children.map((child) => texOf(child, depth + 1));
  const name = node.name.toLowerCase().replace(/^.*:/, "");
  switch (name) {
    case "annotation":
    case "annotation-xml":
    case "mphantom":
      return "";
    case "mi":
      return identifier(textOf(node).trim());
    case "mn":
    case "mo":
      return symbols(textOf(node).trim());
    case "mtext":
    case "ms":
      return textOf(node).trim() === "" ? " " : `\\text{${textOf(node).replace(/[{}\\$]/g, "")}}`;
    case "mspace":
      return " ";
    case "mtable":
      return `\\begin{matrix}${parts().join(" \\\\ ")}\\end{matrix}`;
    case "mtr":
    case "mlabeledtr":
      return parts().join(" & ");
    case "mfenced":
      return `${node.getAttribute("open") ?? "("}${parts().join(", ")}${node.getAttribute("close") ?? ")"}`;
    default:
      return composed(name, parts());
  }
}

function composed(name: string, parts: readonly string[]): string {
  const [a = "", b = "", c = ""] = parts;
  switch (name) {
    case "mfrac":
      return `\\frac{${a}}{${b}}`;
    case "msqrt":
      return `\\sqrt{${joined(parts)}}`;
    case "mroot":
      return `\\sqrt[${b}]{${a}}`;
    case "msup":
      return `${base(a)}^${argument(b)}`;
    case "msub":
      return `${base(a)}_${argument(b)}`;
    case "msubsup":
    case "munderover":
      return `${base(a)}_${argument(b)}^${argument(c)}`;
    case "munder":
      return `${base(a)}_${argument(b)}`;
    case "mover":
      return accent(a, b);
    default:
      return joined(parts);
  }
}

const ACCENTS: Readonly<Record<string, string>> = {
  "¯": "bar",
  "‾": "bar",
  "^": "hat",
  ˆ: "hat",
  "~": "tilde",
  "˜": "tilde",
  "\\to": "vec",
  "⃗": "vec",
  "˙": "dot",
  "¨": "ddot",
};

const accent = (a: string, over: string): string =>
  over in ACCENTS ? `\\${ACCENTS[over]}{${a}}` : `${base(a)}^${argument(over)}`;
const argument = (tex: string): string => (tex.length === 1 ? tex : `{${tex}}`);
const base = (tex: string): string => (tex.length <= 1 || /^\\?[A-Za-z]+$/.test(tex) ? tex : `{${tex}}`);

// A command and a following letter would run together.
function joined(parts: readonly string[]): string {
  let tex = "";
  for (const part of parts) tex += /\\[A-Za-z]+$/.test(tex) && /^[A-Za-z]/.test(part) ? ` ${part}` : part;
  return tex;
}

function identifier(text: string): string {
  if (FUNCTIONS.has(text)) return `\\${text} `;
  return text.length > 1 && /^[A-Za-z]+$/.test(text) ? `\\mathrm{${text}}` : symbols(text);
}

function symbols(text: string): string {
  let tex = "";
  for (const character of text) {
    const known = SYMBOLS.get(character) ?? (/[%#&_]/.test(character) ? `\\${character}` : character);
    tex += /\\[A-Za-z]+$/.test(tex.slice(-20)) && /^[A-Za-z]/.test(known) ? ` ${known}` : known;
  }
  return tex;
}
