import { describe, expect, test } from "bun:test";
import { articleOf, PROSE } from "../../../support/extraction.ts";

const dateOf = async (line: string): Promise<string | null> => {
  const html = `<html lang="en"><head><title>Levels of a weir</title></head><body><article><h1>Levels of a weir</h1>${line}<p>${PROSE}</p><p>${PROSE}</p></article></body></html>`;
  return (await articleOf(html)).publishedDate;
};

describe("the day on which a journal received a paper", () => {
  for (const word of ["Received", "Accepted", "Eingegangen", "Recibido"]) {
    test(`is not that of its publication: ${word}`, async () => {
      expect(await dateOf(`<p>${word}: 3 March 2025</p>`)).toBeNull();
      const published = await dateOf(`<p>${word}: 3 March 2025; Published: 5 May 2025</p>`);
      expect(published?.slice(0, 10)).toBe("2025-05-05");
    });
  }
});
