/**
 * The least version of the system that a program asks for, as two numbers: of glibc for an ELF file (null when it uses
 * another C library), of macOS for a Mach-O file.
 */
export function neededSystem(program: Uint8Array): readonly [number, number] | null {
  const bytes = Buffer.from(program.buffer, program.byteOffset, program.byteLength);
  return bytes.readUInt32LE(0) === MACH_O_64 ? neededMacos(bytes) : neededGlibc(bytes);
}

const MACH_O_64 = 0xfeedfacf;
const LC_BUILD_VERSION = 0x32;

/** Reads the table of versioned symbols' names, where each version stands as a string of its own. */
function neededGlibc(bytes: Buffer): readonly [number, number] | null {
  const prefix = "\0GLIBC_2.";
  let minor: number | null = null;
  for (let at = bytes.indexOf(prefix); at !== -1; at = bytes.indexOf(prefix, at + 1)) {
    const version = /^(\d+)(?:\.\d+)?\0/.exec(
      bytes.toString("latin1", at + prefix.length, at + prefix.length + 8),
    );
    if (version !== null) minor = Math.max(minor ?? 0, Number(version[1]));
  }
  return minor === null ? null : [2, minor];
}

function neededMacos(bytes: Buffer): readonly [number, number] {
  const commands = bytes.readUInt32LE(16);
  for (let command = 0, at = 32; command < commands; command++, at += bytes.readUInt32LE(at + 4)) {
    if (bytes.readUInt32LE(at) !== LC_BUILD_VERSION) continue;
    return [bytes.readUInt16LE(at + 14), bytes.readUInt8(at + 13)];
  }
  throw new Error("the program does not say which macOS it needs");
}
