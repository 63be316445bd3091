import { describe, expect, test } from "bun:test";
import { extract } from "../../support/extraction.ts";

const PROSE =
  "<p>The mill counts every lantern before the tide carries the ledger to the harbour, and mends what is broken.</p>";
const inPage = (body: string): string =>
  `<!doctype html><title>Gates</title><nav><a href="/">Home page</a></nav><main><h1>Gates</h1>${PROSE}${body}${PROSE}</main>`;

const markdownOf = async (body: string): Promise<string> => {
  const { article } = await extract(inPage(body));
  return article?.markdown ?? "";
};

type Signature = { readonly type: string; readonly name: string; readonly parameters: readonly string[] };
const SIGNATURES: readonly Signature[] = [
  { type: "void", name: "gate_open", parameters: ["const Gate *gate", "int depth"] },
  { type: "static int", name: "weir::level", parameters: ["double tide"] },
  { type: "Ledger", name: "readLedger", parameters: ["String path", "boolean strict", "int... pages"] },
];
const written = ({ type, name, parameters }: Signature): string =>
  `${type} ${name}(${parameters.join(", ")})`;
const spaced = (code: string): string => code.replace(/[^\p{L}\p{N}]+/gu, " ").trim();

/** The shapes in which manuals write a signature. */
const SHAPES: Readonly<Record<string, (signature: Signature) => string>> = {
  "a table with a row for each parameter": ({ type, name, parameters }) => {
    const [first, ...more] = parameters.map((parameter) => {
      const [, kind, called] = /^(.*[\s*])(\S+)$/.exec(parameter)!;
      return `<td>${kind}&#160;</td><td><em>${called}</em>,</td>`.replace(
        parameter === parameters.at(-1) ? /,(?=<\/td>$)/ : /^$/,
        "",
      );
    });
    const rows = more.map((cells) => `<tr><td></td><td></td>${cells}</tr>`).join("");
    return `<table><tr><td>${type} ${name} </td><td>(</td>${first}</tr>${rows}<tr><td></td><td>)</td><td></td><td></td></tr></table>`;
  },
  "a table with one row": ({ type, name, parameters }) =>
    `<table><tr><td>${type} ${name} </td><td>(</td><td>${parameters.join(", ")}</td><td>)</td><td></td></tr></table>`,
  "lines between breaks": ({ type, name, parameters }) =>
    `<div>${type} ${name}(<br>${parameters.map((parameter) => `&nbsp; ${parameter}`).join(",<br>")})</div>`,
  "lines of an item": ({ type, name, parameters }) =>
    `<ul><li><span>${type}</span> <b>${name}</b>(<br/>${parameters.join(",<br/>")}<br/>)</li></ul>`,
  spans: ({ type, name, parameters }) =>
    `<div><span class="t">${type}</span> <span class="n">${name}</span><span class="p">(${parameters.join(", ")})</span></div>`,
};

describe("a signature is code", () => {
  for (const [shape, write] of Object.entries(SHAPES)) {
    for (const signature of SIGNATURES) {
      test(`${shape}: ${signature.name}`, async () => {
        const markdown = await markdownOf(`<h2>Use</h2>${write(signature)}`);
        const [, code = ""] = /```\n([^`]*)```/.exec(markdown) ?? [];
        expect(spaced(code)).toBe(spaced(written(signature)));
        expect(markdown).not.toContain("|");
      });
    }
  }

  for (const element of ["dt", "h2", "h3", "h4"]) {
    for (const signature of SIGNATURES) {
      test(`${element}: ${signature.name}`, async () => {
        const title = `<${element}>${written(signature)}</${element}>`;
        const markdown = await markdownOf(
          element === "dt" ? `<dl>${title}<dd>Opens.</dd></dl>` : title + PROSE,
        );
        expect(markdown).toContain(`\`${written(signature)}\``);
      });
    }
  }

  test("words that touch where a style sheet sets them apart", async () => {
    const spans = ["def", "tie", "(", "rope", ")"]
      .map((word) => `<span class="part">${word}</span>`)
      .join("");
    expect(await markdownOf(`<h3>Knots</h3><div>${spans}</div>`)).toContain("def tie(rope)");
  });

  test("a type after two colons, without the links beside it", async () => {
    const line = '<p><a>decode</a> :: FromText a =&gt; Text -&gt; Maybe a <a href="s.html">Source</a></p>';
    expect(await markdownOf(line + PROSE)).toContain("```\ndecode :: FromText a => Text -> Maybe a\n```");
  });
});

describe("prose with brackets stays prose", () => {
  for (const title of [
    "Snake plant (Dracaena)",
    "Author(s)",
    "fix(parser): keep the last line",
    "Windows(10)",
    "Why malloc() fails",
    "Using printf(format) in loops",
    "Using toString()",
    "Open source",
    "Therapy and medication combined (18+)",
    "标题(二)",
  ]) {
    test(title, async () => {
      const markdown = await markdownOf(`<h2>${title}</h2>${PROSE}<p><b>300 mills</b><br>(and weirs.)</p>`);
      expect(markdown).toContain(`## ${title}`);
      expect(markdown).not.toContain("`");
    });
  }
});

describe("a heading loses what is offered beside it", () => {
  const TOOLS = [
    '<a href="/s.html#L3">[src]</a>',
    '<a href="#gates">[¶]</a>',
    "<button>collapse</button>",
    '<a href="#">collapse</a>',
    '<span class="line">at line 11</span>',
    '<div class="place">at <a href="/s#L11">line 11</a></div>',
    '[<a href="/edit">edit</a>]',
  ];
  for (const tool of TOOLS) {
    for (const isFirst of [false, true]) {
      test(`${tool} ${isFirst ? "before" : "after"} it`, async () => {
        const title = isFirst ? `${tool} Sluices` : `Sluices ${tool}`;
        expect(await markdownOf(`<h2>${title}</h2>${PROSE}`)).toMatch(/^## Sluices$/m);
      });
    }
  }

  test("but not its own words", async () => {
    const markdown =
      await markdownOf(`<h2>Open <em>source</em></h2>${PROSE}<h2><button>Expand</button> it</h2>${PROSE}
      <h2>impl <a href="c.html">Copy</a> for T</h2>${PROSE}`);
    expect(markdown).toContain("## Open *source*");
    expect(markdown).toContain("Copy");
  });
});

describe("code inside a line of code ends no line", () => {
  const LINES = ["make all install", "make clean", "run it twice"];
  for (let line = 0; line < LINES.length; line++) {
    for (let word = 0; word < 3; word++) {
      for (const frame of [
        "<pre>|</pre>",
        "<pre><code>|</code></pre>",
        '<pre class="code"><span>|</span></pre>',
      ]) {
        test(`word ${word} of line ${line} in ${frame}`, async () => {
          const marked = LINES.map((text, at) => {
            const words = text.split(" ");
            if (at === line && words[word]) words[word] = `<code>${words[word]}</code>`;
            return words.join(" ");
          });
          expect(await markdownOf(frame.replace("|", marked.join("\n")))).toContain(LINES.join("\n"));
        });
      }
    }
  }

  for (const words of [
    "<code>make</code> clean <code>all</code>",
    "$ <code>make</code> <code>clean all</code>",
  ]) {
    test(`one line: ${words}`, async () => {
      expect(await markdownOf(`<pre>${words}</pre>`)).toContain(words.replace(/<[^>]+>/g, ""));
    });
  }
});

describe("an escaped <noscript> is no text", () => {
  const PIXEL = '&lt;img height="1" src="https://count.test/x.gif"&gt;';
  for (const html of [`<noscript>${PIXEL}</noscript>`, `<p>&lt;noscript&gt;${PIXEL}&lt;/noscript&gt;</p>`]) {
    test(html.slice(0, 14), async () => {
      expect(await markdownOf(html + PROSE)).not.toContain("count.test");
    });
  }

  test("in code it is", async () => {
    const shown = await markdownOf("<p><code>&lt;noscript&gt;No.&lt;/noscript&gt;</code> says it.</p>");
    expect(shown).toContain("`<noscript>No.</noscript>`");
  });
});
