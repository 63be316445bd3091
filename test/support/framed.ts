const PROSE = [
  "The mill at the river mouth has turned again since the spring, and the people who live beside it say that they sleep better with its sound than they did in the years when the wheel stood still.",
  "It took the town council eleven years to agree on who should pay for the repairs, which were estimated at first at forty thousand and came to nearly three times as much before the first stone was lifted.",
  "Most of the money went into the foundations, because the river had washed out the eastern wall further than anybody had thought, and the carpenters had to wait a whole winter until the masons were done.",
  "What convinced the neighbours in the end was not the electricity that the wheel now makes, though it lights the street as far as the church, but the flour that the baker sells on Saturdays under the arcade.",
  "Visitors can see the machinery on the first weekend of every month, when the volunteers open the upper floor and explain how the stones are dressed, lifted and set to the fineness that each kind of grain needs.",
  "The association hopes to restore the drying loft next, for which it has already found a part of the oak that it needs in a barn that was pulled down last autumn on the other side of the valley.",
] as const;

const paragraphs = (from: number, until: number): string =>
  PROSE.slice(from, until)
    .map((text) => `<p>${text}</p>\n`)
    .join("");

/** A page of a site with navigation and footer, in whose article something stands between paragraphs. */
export const framed = (inner: string, head = ""): string => `<!doctype html><html lang="en"><head>
<title>The mill turns again | Valley News</title>${head}</head><body>
<header class="site-header"><a href="/">Valley News</a><nav><ul><li><a href="/news">News</a></li>
<li><a href="/sports">Sports</a></li><li><a href="/culture">Culture</a></li><li><a href="/about">About us</a></li></ul></nav></header>
<main><article class="post"><h1>The mill turns again</h1>
${paragraphs(0, 3)}${inner}
${paragraphs(3, 6)}</article></main>
<footer class="site-footer"><ul><li><a href="/imprint">Imprint</a></li><li><a href="/privacy">Privacy</a></li>
<li><a href="/contact">Contact</a></li></ul><p>© 2024 Valley News</p></footer></body></html>`;
