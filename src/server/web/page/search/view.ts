import { byId } from "../dom.ts";
import { readPlace, viewOf } from "./place.ts";

// It stands in the page itself, so that the first picture already is that of the view which the address names, without
// waiting for the other script.
const place = readPlace();
const view = viewOf(place);
document.documentElement.dataset.view = view;
byId("overview", HTMLElement).hidden = view !== "overview";
byId("query", HTMLInputElement).value = place.query;
