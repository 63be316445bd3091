import { describe, expect, test } from "bun:test";
import { withoutGeneratorMarks } from "../../../../src/search/reading/generator-marks.ts";

describe("the marks of generators", () => {
  test.each([
    [":::tip[Reef early]\n\nReef now.\n\n:::", "Reef early\n\n\nReef now.\n\n\n"],
    [":::warning Storm jib\nSet it.\n:::", "Storm jib\n\nSet it.\n\n"],
    ["::: code-group\n\n```sh [npm]\n::: kept\n```", "\n\n\n```sh [npm]\n::: kept\n```"],
    [":::{note}\nInner.\n:::", "\n\nInner.\n\n"],
    ['!!! warning "Stay clear"\n\n    Keep away.\n\nAfter.', "Stay clear\n\n\nKeep away.\n\nAfter."],
    ["!!! note\n    Held.\n", "\n\nHeld.\n"],
    [
      '=== "Wooden"\n\n    ```sh\n    varnish\n    ```\n\nAfter.',
      "Wooden\n\n\n```sh\nvarnish\n```\n\nAfter.",
    ],
    ['??? note "Out"\n    === "In"\n        Deep.\n    Shallow.', "Out\n\nIn\n\nDeep.\nShallow."],
    ["[[toc]]\n\n<<< @/snippets/keel.js\n\nText.", "\n\nText."],
    ["{{< tabs >}}Oars{{% /tabs %}} and {% include a.md %}masts", "Oars and masts"],
    ['{{< tab "Oak" >}}\nPlank.\n{{< /tab >}}', "Oak\nPlank.\n"],
    ["{% tab title='Elm' %}Board.{% endtab %}", "Elm Board."],
    ['{{% notice note "Ash" %}} {{< tabs "id-1" >}} {{< figure src="a.png" title="Yew" >}}', "Ash   Yew "],
    ["- ```\n  {{< x >}}\n  ```", "- ```\n  {{< x >}}\n  ```"],
  ])("of %j go, and what they hold stays", (written, shown) => {
    expect(withoutGeneratorMarks(written)).toBe(shown);
  });

  test.each([
    "Write `{{< ref >}}` or ``{% raw %}``.",
    "```\n!!! note\n{{< x >}}\n```",
    "Title\n=====\n\nWhy???\n\nHey!!! You",
    "    indented {{< call >}} code",
    "a ::: b and `:::`",
  ])("are not seen in %j", (text) => {
    expect(withoutGeneratorMarks(text)).toBe(text);
  });

  test.each(["!!! a ", ":::[", "{{<", "{% ", "`", '=== "', "<<< @", "    "])(
    "take linear time in a text of %j alone",
    (part) => {
      const started = performance.now();
      withoutGeneratorMarks(part.repeat(100_000));
      withoutGeneratorMarks(`${part}\n`.repeat(50_000));
      expect(performance.now() - started).toBeLessThan(5000);
    },
  );
});
