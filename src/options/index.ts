export { CHUNKS } from "./chunks.ts";
export { CRAWL } from "./crawl.ts";
export { EXTRACTION } from "./extraction.ts";
export {
  BYTES,
  choice,
  decimal,
  HEADER_CHARACTERS,
  HEADER_TEXT,
  type Kind,
  problemOf,
  readWritten,
  refusalOf,
  SWITCH,
  text,
  toInside,
  toOutside,
  type ValueOf,
  whole,
  writeValue,
} from "./kinds.ts";
export { FETCHING, MAX_URL_CHARACTERS, NETWORK } from "./network.ts";
export {
  type Change,
  type Choices,
  defaultsOf,
  flagName,
  manifestField,
  meaningOf,
  noChoices,
  type Option,
  type OptionTable,
  shownOptions,
  unmarked,
  type Values,
  valuesFrom,
} from "./option.ts";
export { QUESTION } from "./question.ts";
