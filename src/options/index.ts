export { RANGES, type Range } from "./ranges.ts";
