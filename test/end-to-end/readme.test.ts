import { documentedBlocks } from "../support/documented.ts";
import { Typist } from "../support/typed-examples.ts";

(await Typist.open()).describeExamples("README.md", await documentedBlocks("README.md"));
