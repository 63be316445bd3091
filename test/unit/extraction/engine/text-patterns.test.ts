import { describe, expect, test } from "bun:test";
import { PATTERN_COUNT, patternsOf } from "../../../../src/extraction/classification/page-tree.ts";

const PHRASES: readonly (readonly [number, string, readonly string[]])[] = [
  [0, "more to read", ["Related posts", "You may like", "READ MORE", "Lees ook", "関連記事"]],
  [1, "sharing", ["Share this", "E-mail", "email", "Copy link", "Artikel teilen", "分享"]],
  [2, "comments", ["3 Comments", "Reply", "Leave a note", "Log in to reply", "Комментарии"]],
  [3, "subscriptions", ["Sign up", "signup", "Our newsletter", "S'abonner", "Suscríbete", "suscribete"]],
  [4, "legal", ["© 2024", "All rights reserved", "Terms of use", "Cookies", "mentions légales"]],
  [5, "accounts", ["Login", "Log in", "My account", "Wish list", "Buy now", "Panier"]],
  [6, "bylines", ["By Anna Muster", "Written by Anna", "von Anna Muster"]],
  [7, "steps", ["Next", "Skip to content", "Home page", "View all", "Zurück", "Startseite"]],
  [8, "dates", ["Jan 3, 2024", "3. März 2024", "2024-01-03", "5 min read", "2024年1月"]],
];

describe("a short text says by its words that it is about", () => {
  for (const [kind, name, phrases] of PHRASES) {
    test.each(phrases.map((phrase) => [phrase]))(`${name}: %s`, (phrase) => {
      expect(patternsOf(phrase) & (1 << kind)).not.toBe(0);
      expect(patternsOf(`Mill ${phrase}`) & (1 << kind)).toBe(kind === 6 || kind === 7 ? 0 : 1 << kind);
    });
  }

  test("nothing of the kind: prose, parts of words and long texts", () => {
    expect(PHRASES).toHaveLength(PATTERN_COUNT);
    for (const text of ["The mill turns by night", "Shareholders commented", "homely", "byline", ""]) {
      expect(patternsOf(text)).toBe(0);
    }
    expect(patternsOf(`Share ${"and turn ".repeat(20)}`)).toBe(0);
  });
});
