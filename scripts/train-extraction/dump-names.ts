import { BLOCK_FEATURES } from "../../src/extraction/classification/block-features.ts";
import { CHOICE_FEATURES } from "../../src/extraction/classification/choose.ts";
import { CONTEXT_FEATURES } from "../../src/extraction/classification/context-features.ts";
import { PAGE_FEATURES } from "../../src/extraction/classification/page-features.ts";
import { BYLINE_FEATURES } from "../../src/extraction/metadata/byline-features.ts";
import { DATE_FEATURES } from "../../src/extraction/metadata/date-features.ts";
import { TITLE_FEATURES } from "../../src/extraction/metadata/title-features.ts";

/**
 * Names of the features that the trees are trained with, in the order of their columns; a test compares the code with it.
 *
 *   sh scripts/bun scripts/train-extraction/dump-names.ts test/unit/extraction/engine/trained-features.json
 */

const [out = ""] = process.argv.slice(2);
const names = {
  BLOCK_FEATURES,
  CONTEXT_FEATURES,
  PAGE_FEATURES,
  CHOICE_FEATURES,
  TITLE_FEATURES,
  DATE_FEATURES,
  BYLINE_FEATURES,
};
await Bun.write(out, `${JSON.stringify(names, null, 1)}\n`);
