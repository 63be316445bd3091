import { Failure } from "../../base/failure.ts";
import type { FileContent } from "./write-html.ts";

export const readArchive = (_: Uint8Array): FileContent => {
  throw new Failure("unsupported_content", "the archive is no document");
};
