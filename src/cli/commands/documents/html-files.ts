// The code for reading the HTML files of a folder, in one chunk of the program.
export { htmlReader } from "../../../app/index.ts";
export { openCommandApp } from "../../program.ts";
