/** Colours for the terminal; functions that change nothing where there are none. */
export type Paint = {
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
};

export function createPaint(isColored: boolean): Paint {
  const style = (code: number) => (text: string) => (isColored ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { bold: style(1), red: style(31), green: style(32), yellow: style(33) };
}

/**
 * Breaks a text into lines of at most `width` characters at its spaces; a longer word stands alone.
 * @param measure characters that are seen of a word
 */
export function wrap(text: string, width: number, measure = (word: string): number => word.length): string[] {
  const lines: string[] = [];
  let line = "";
  let length = 0;
  for (const word of text.split(" ")) {
    const wordLength = measure(word);
    if (line !== "" && length + 1 + wordLength > width) {
      lines.push(line);
      line = word;
      length = wordLength;
    } else {
      length = line === "" ? wordLength : length + 1 + wordLength;
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return line === "" ? lines : [...lines, line];
}
