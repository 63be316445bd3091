/** The runtime reads its variables before any code runs, so a program can only set them for the one that replaces it. */
const VARIABLE = "BUN_JSC_useDFGJIT";

/** How much more reluctant the runtime is to compile where the program cannot replace itself. */
const JIT_POLICY = 20;

/**
 * Makes the runtime compile less, for a program that extracts one page: the page is over before code that was optimised
 * has paid for it. On a page of 100 kB the optimising compilers took a third of the CPU time, and on none of up to 4.5 MB
 * did they win it back. On Linux the program replaces itself by itself without them, which costs 20 ms and saves 100;
 * elsewhere it makes the runtime more reluctant, which delays its quick compiler too and saves half as much.
 * @param words as the runtime has them
 */
export function compileLess(words: readonly string[]): void {
  if (process.env[VARIABLE] !== undefined) return;
  const isProgram = import.meta.path.includes("$bunfs") && process.platform === "linux";
  if (isProgram && ![...words, ...Object.values(process.env)].some(isLost)) replaceProgram(words);
  Bun.unsafe.setJITPolicy(JIT_POLICY);
}

/** Bytes that are not UTF-8 do not survive, nor do open files of the shell (`<(…)`), which the runtime closes. */
const isLost = (word = ""): boolean => word.includes("\ufffd") || word.includes("/fd/");

/** Returns only where the system does not allow it. */
function replaceProgram(words: readonly string[]): void {
  try {
    // By this path the program is found even when its file has been replaced meanwhile.
    process.execve?.("/proc/self/exe", [process.execPath, ...words], { ...process.env, [VARIABLE]: "0" });
  } catch {
    // The page is extracted all the same, with more compiling.
  }
}
