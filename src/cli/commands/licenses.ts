import { Failure } from "../../base/failure.ts";

/**
 * The licences of the software inside, collected by the build.
 * @throws Failure `internal` when the program runs from its sources, which hold no such text
 */
export async function readLicenses(): Promise<string> {
  try {
    // Embedded as text by the bundler; the file is made by scripts/build.ts.
    return (await import("../../../build/licenses.txt", { with: { type: "text" } })).default;
  } catch (cause) {
    throw new Failure("internal", "the licences are collected when the program is built (make build)", {
      cause,
    });
  }
}
