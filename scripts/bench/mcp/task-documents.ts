const FILLER = "Other things that nobody asks about stand here as well. ".repeat(60);

const functions = (version: string): string =>
  Array.from(
    { length: 60 },
    (_, at) =>
      `## weir.gate_${at}(level, *, slow=${version === "1" ? "False" : "True"})\n\nMoves gate ${at}. ${FILLER}\n`,
  ).join("\n");

/** A small library's documentation in one of two versions, in which scripted clients look for answers. */
export const taskDocuments = (version: string): Readonly<Record<string, string>> => ({
  "api.md": `# API reference\n\n${functions(version)}`,
  "guide.md": `# Guide\n\n${FILLER}\n\n## How to open a gate in winter\n\nWarm it first, then call \`weir.gate_7\`.\n\n## Other\n\n${FILLER}\n`,
  "faq.md": `# Questions\n\n${FILLER}\n`,
});
