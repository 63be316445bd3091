import { describe, expect, test } from "bun:test";
import { articleOf, PROSE, pageWith } from "../../support/extraction.ts";

/** What pages for phones write for pictures and videos, and what it shows. */
const MEDIA: readonly (readonly [html: string, shown: string])[] = [
  [
    `<amp-img src="/bell.jpg" width="640" height="480" alt="Bell"></amp-img>`,
    "![Bell](https://site.test/bell.jpg)",
  ],
  [
    `<amp-img src="/bell.jpg" srcset="/bell-2.jpg 1280w, /bell.jpg 640w" width="640" height="480" alt="Bell"><noscript><img src="/bell.jpg" alt="Bell"></noscript></amp-img>`,
    "![Bell](https://site.test/bell-2.jpg)",
  ],
  [
    `<amp-anim src="/wheel.gif" width="640" height="480" alt="Wheel"></amp-anim>`,
    "![Wheel](https://site.test/wheel.gif)",
  ],
  [
    `<amp-video src="/weir.mp4" width="640" height="480" controls></amp-video>`,
    "[Video](https://site.test/weir.mp4)",
  ],
  [
    `<amp-video title="Weir" width="640" height="480"><div fallback><p>No video.</p></div><source src="/weir.mp4"></amp-video>`,
    "[Weir](https://site.test/weir.mp4)",
  ],
  [`<amp-audio src="/bell.mp3"></amp-audio>`, "[Audio](https://site.test/bell.mp3)"],
  [
    `<amp-iframe src="https://player.vimeo.com/video/1234567" width="640" height="480"></amp-iframe>`,
    "[Video](https://vimeo.com/1234567)",
  ],
  [
    `<amp-youtube data-videoid="aB3dE6gH9jK" width="640" height="480"></amp-youtube>`,
    "[Video](https://www.youtube.com/watch?v=aB3dE6gH9jK)",
  ],
  [
    `<lite-youtube videoid="aB3dE6gH9jK"></lite-youtube>`,
    "[Video](https://www.youtube.com/watch?v=aB3dE6gH9jK)",
  ],
  [
    `<amp-vimeo data-videoid="1234567" width="640" height="480"></amp-vimeo>`,
    "[Video](https://vimeo.com/1234567)",
  ],
  [`<lite-vimeo videoid="1234567"></lite-vimeo>`, "[Video](https://vimeo.com/1234567)"],
  [
    `<amp-dailymotion data-videoid="x3rdtfy"></amp-dailymotion>`,
    "[Video](https://www.dailymotion.com/video/x3rdtfy)",
  ],
];
const PLACES: Readonly<Record<string, (html: string) => string>> = {
  "between paragraphs": (html) => html,
  "in a figure": (html) => `<figure>${html}<figcaption>At the weir.</figcaption></figure>`,
  "in a slide show": (html) => `<amp-carousel type="slides"><div>${html}</div></amp-carousel>`,
};

describe("media of pages for phones", () => {
  for (const [html, shown] of MEDIA) {
    for (const [place, write] of Object.entries(PLACES)) {
      test(`${html.slice(0, 80)} ${place}`, async () => {
        const { markdown } = await articleOf(pageWith(`${write(html)}<p>${PROSE}</p>`));
        expect(markdown?.split(shown)).toHaveLength(2);
        expect(markdown).not.toContain("No video.");
      });
    }
  }

  test("a video without a number is none", async () => {
    const { markdown } = await articleOf(pageWith("<amp-youtube></amp-youtube>"));
    expect(markdown).not.toContain("youtube");
  });
});
