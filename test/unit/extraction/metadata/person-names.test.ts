import { describe, expect, test } from "bun:test";
import { cleanName, foldNames } from "../../../../src/extraction/metadata/byline.ts";

describe("a name in a byline", () => {
  const cleaned: readonly (readonly [written: string, name: string])[] = [
    ["By Ann Quay", "Ann Quay"],
    ["by: Ann Quay", "Ann Quay"],
    ["Written by Ann Quay", "Ann Quay"],
    ["Von Änne Kai", "Änne Kai"],
    ["Par Anne Quai", "Anne Quai"],
    ["Por Ana Muelle", "Ana Muelle"],
    ["Autor: Ann Quay", "Ann Quay"],
    ["By Ann Quay and Ben Weir", "Ann Quay and Ben Weir"],
    ["Ann Quay | Harbour desk", "Ann Quay"],
    ["Ann Quay, March 12, 2024", "Ann Quay"],
    ["Ann Quay 12.03.2024", "Ann Quay"],
    ["Ann Quay on March 12", "Ann Quay"],
    ["Ann Quay · 5 min read", "Ann Quay"],
    ["Ann Quay for the Harbour News", "Ann Quay"],
    ["Ann Quay (Harbour News)", "Ann Quay"],
    ["Ann &amp; Ben", "Ann & Ben"],
    ["Byron Quay", "Byron Quay"],
    ["Vonda Quay", "Vonda Quay"],
    ["user3080392", "user3080392"],
    ["June Harbour", "June Harbour"],
    ["May", "May"],
    ["Friday Weir", "Friday Weir"],
    ["Ann Friday", "Ann Friday"],
    ["By Ann Quay, Friday", "Ann Quay"],
    ["By Ann Quay, Friday morning", "Ann Quay"],
    ["By Ann Quay and Ben Weir, Sunday", "Ann Quay and Ben Weir"],
    ["Von Änne Kai, Donnerstag", "Änne Kai"],
    ["Par Anne Quai, hier", "Anne Quai"],
    ["By Ann Quay, Ben Sundayer", "Ann Quay, Ben Sundayer"],
    ["Art Staff", "Art Staff"],
    ["Share Quay", "Share Quay"],
    ["Ann Quay ●", "Ann Quay"],
    ["Ann Quay at", "Ann Quay"],
    ["A. J. O’Quay-Weir", "A. J. O’Quay-Weir"],
  ];
  for (const [written, name] of cleaned) {
    test(`is ${JSON.stringify(name)} in ${JSON.stringify(written)}`, () => {
      expect(cleanName(written)).toBe(name);
    });
  }

  for (const written of [
    "https://social.test/ann",
    "www.site.test",
    "@ann",
    "{{ author }}",
    "undefined",
    "12",
    "© Ann Quay",
    "CC BY",
    "Feb 11",
    "Sept. 4th",
    "By March 20",
    "Friday",
    "desk@harbour.test",
    "[email\u00a0protected]",
    "Admin",
    "The Webmaster",
    "Staff",
    "Our Editors",
    "Editorial Team",
    "the news desk",
    "Email address *",
    "Map/Location",
    "My profile",
    "View license",
    "Meet our team",
    "Comments",
    "Sign up",
    "By",
    "",
    null,
  ]) {
    test(`is none in ${JSON.stringify(written)}`, () => {
      expect(cleanName(written)).toBeNull();
    });
  }

  test("is the same however it is joined to others", () => {
    expect(foldNames("Ann Quay and Ben Weir")).toBe(foldNames("ANN QUAY, BEN WEIR"));
    expect(foldNames("Ann Quay & Ben Weir")).toBe(foldNames("Ann Quay und Ben Weir"));
    expect(foldNames("Ann Quay")).not.toBe(foldNames("Ben Quay"));
  });
});
