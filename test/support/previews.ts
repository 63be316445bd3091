/** Pages that show the beginning of an article, and pages that show all of one, after the structure of real ones. */

const EN = [
  "The ferry across the Ombrel has run since the spring of 1911, when the last toll bridge upstream was taken away by ice, and on market days its queue reaches the chapel.",
  "Maren took over the tiller from her uncle when she was nineteen, and keeps a ledger of every crossing, written in pencil because ink freezes in January.",
  "What the ledgers show is a river that arrives earlier each year, and a low water that now lingers until the first storms of November.",
];
const DE = [
  "Als der Fluss sein neues Bett nahm, blieb der Hafen zurück, und mit ihm die Menschen, die dreihundert Jahre lang von seinen Booten gelebt hatten.",
  "Niemand hatte sie gefragt, ob sie umziehen wollten, und am Anfang tat es auch niemand, bis im dritten Winter die Schule geschlossen wurde",
];
const FR = [
  "Depuis le printemps de 1911, le bac traverse l'Ombrel, et les jours de marché la file des voitures remonte jusqu'à la chapelle du village.",
  "Personne ne se souvient d'une semaine sans lui, et pourtant les carnets de la passeuse racontent une rivière qui change chaque année",
];
const ES = [
  "Desde la primavera de 1911 la barca cruza el Ombrel, y en los días de mercado la fila de coches llega hasta la capilla del pueblo.",
  "Nadie recuerda una semana sin ella, pero los cuadernos de la barquera cuentan la historia de un río que cambia cada año.",
];
const IT = [
  "Dalla primavera del 1911 il traghetto attraversa l'Ombrel, e nei giorni di mercato la fila delle auto arriva fino alla cappella del paese.",
  "Nessuno ricorda una settimana senza di esso, ma i quaderni della traghettatrice raccontano un fiume che cambia ogni anno",
];
const JA = [
  "オンブレル川の渡し船は、上流の最後の橋が氷に流された一九一一年の春から走り続けており、市の立つ日には車の列が礼拝堂まで伸びる。",
  "船頭の手帳には、冬でも凍らない鉛筆で毎日の渡しが書き留められており、川の氷が年ごとに早く解けていくことが分かる",
];

const paragraphs = (texts: readonly string[]): string => texts.map((text) => `<p>${text}</p>`).join("\n");

type Parts = {
  readonly lang?: string;
  readonly title: string;
  readonly head?: string;
  readonly main: string;
};

/** A page of a paper with its navigation and what else stands around. */
const paper = ({ lang = "en", title, head = "", main }: Parts): string => `<!doctype html>
<html lang="${lang}"><head><meta charset="utf-8"><title>${title} | Courier</title>${head}</head><body>
<header><a href="/">Courier</a><nav><ul><li><a href="/news">News</a></li><li><a href="/culture">Culture</a></li><li><a href="/opinion">Opinion</a></li><li><a href="/login">Log in</a></li><li><a href="/offers">Subscribe</a></li></ul></nav></header>
${main}
<aside><h3>Most read</h3><ol><li><a href="/n/1">Council postpones the vote on parking meters</a></li><li><a href="/n/2">Three bakeries to try before the fair</a></li></ol></aside>
<footer><ul><li><a href="/imprint">Imprint</a></li><li><a href="/privacy">Privacy</a></li></ul><p>© 2026 Courier. All rights reserved.</p></footer>
</body></html>`;

/** Written before the rule, and tried after it was done. */
const UNSEEN: Readonly<Record<string, string>> = {
  "unseen: blurred last paragraphs, and a dialog that asks to register": paper({
    title: "The river that comes early",
    main: `<main><h1>The river that comes early</h1><div class="story">${paragraphs(EN.slice(0, 2))}<div style="filter: blur(4px); user-select: none"><p>${EN[2]}</p></div></div>
<section class="gate"><h3>Create a free account to keep reading</h3><p>It takes a minute.</p><form action="/register"><input type="email" placeholder="Email"><button>Continue</button></form><p>Already registered? <a href="/login">Sign in</a></p></section></main>`,
  }),
  "unseen: French, the cut sentence and a box of another make": paper({
    lang: "fr",
    title: "La rivière qui arrive trop tôt",
    main: `<main><article><h1>La rivière qui arrive trop tôt</h1><div class="article__content">${paragraphs([FR[0]!, `${FR[1]} (…)`])}</div>
<div class="offre"><p>Il vous reste 78 % de cet article à lire. La suite est réservée aux abonnés.</p><a href="/abonnement">S'abonner</a></div></article></main>`,
  }),
  "unseen: Japanese, with a gradient over the end": paper({
    lang: "ja",
    title: "早く来る川",
    main: `<div id="wrap"><h1>早く来る川</h1><div class="body">${paragraphs(JA.map((text) => `${text}。`))}<div style="position:absolute;bottom:0;height:120px;background:linear-gradient(to bottom, rgba(255,255,255,0), #fff)"></div></div>
<div class="guide"><p>この記事は有料会員限定です。</p><p>残り1,204文字</p><a href="/signup">会員登録して続きを読む</a></div></div>`,
  }),
};

/** What stands before the rest of an article, by how it is built. */
export const PREVIEWS: Readonly<Record<string, string>> = {
  "a class that fades, and an offer": paper({
    title: "What the ledgers say",
    main: `<main><article class="post"><h1>What the ledgers say</h1><p>${EN[0]}</p><div class="paywall-fade">${paragraphs(EN.slice(1))}</div>
<div class="offer"><h2>Continue reading with a subscription</h2><p>Choose the plan that suits you: four weeks for one euro, then 9.90 a month.</p><button>Subscribe now</button></div></article></main>`,
  }),
  "a mask in the style of the body": paper({
    title: "What the ledgers say",
    main: `<main><h1>What the ledgers say</h1><div style="-webkit-mask-image: linear-gradient(#000 40%, transparent); mask-image: linear-gradient(#000 40%, transparent)">${paragraphs(EN)}</div>
<div class="box"><p><strong>Subscribe to continue reading</strong></p><a href="/offers">See the offers</a></div></main>`,
  }),
  "a rule of the page's own that fades": paper({
    title: "What the ledgers say",
    head: "<style>.c-end{position:relative;max-height:340px;overflow:hidden}.c-end{mask-image:linear-gradient(#000,transparent)}</style>",
    main: `<main><h1>What the ledgers say</h1><div class="c-end">${paragraphs(EN)}</div>
<div><p>This story is for subscribers only.</p><p>Already a subscriber? <a href="/login">Log in</a></p></div></main>`,
  }),
  "German, a sentence that ends in dots": paper({
    lang: "de",
    title: "Der Hafen, der blieb",
    main: `<main><article><h1>Der Hafen, der blieb</h1>${paragraphs([DE[0]!, `${DE[1]}&nbsp;…`])}
<div class="angebot"><h3>Weiterlesen mit Courier Plus</h3><ul><li>Alle Artikel lesen</li><li>Monatlich kündbar</li></ul><a href="/abo" role="button">Jetzt testen</a></div></article></main>`,
  }),
  "French, dots and an offer": paper({
    lang: "fr",
    title: "La rivière des carnets",
    main: `<main><article><h1>La rivière des carnets</h1>${paragraphs([FR[0]!, `${FR[1]}...`])}<section><p>Abonnez-vous pour lire la suite.</p><a href="/abo">Je m'abonne</a></section></article></main>`,
  }),
  "Spanish, an overlay of its own between text and offer": paper({
    lang: "es",
    title: "El río de los cuadernos",
    main: `<main><h1>El río de los cuadernos</h1><div class="cuerpo">${paragraphs(ES)}</div><div class="gradient-overlay"></div><div><p>Suscríbete para seguir leyendo</p><a href="/suscripcion">Ver ofertas</a></div></main>`,
  }),
  "Italian, a text that breaks off in the middle of a sentence": paper({
    lang: "it",
    title: "Il fiume dei quaderni",
    main: `<main><article><h1>Il fiume dei quaderni</h1>${paragraphs(IT)}<div class="box"><h3>Abbonati per continuare a leggere</h3><a href="/abbonamenti">Scopri le offerte</a></div></article></main>`,
  }),
  "Japanese, dots and an offer": paper({
    lang: "ja",
    title: "川の手帳",
    main: `<main><article><h1>川の手帳</h1>${paragraphs([JA[0]!, `${JA[1]}…`])}<div><p>この記事は会員限定です。会員登録すると続きをお読みいただけます。</p><a href="/login">ログイン</a></div></article></main>`,
  }),
  "the page's data name more words than it shows": paper({
    title: "What the ledgers say",
    head: `<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"What the ledgers say","wordCount":1460}</script>`,
    main: `<main><article><h1>What the ledgers say</h1>${paragraphs(EN.slice(0, 2))}<div><h2>To read the full story, subscribe</h2><a href="/offers">From 2 a month</a></div></article></main>`,
  }),
  ...UNSEEN,
};

/** Whole texts that have something of a preview. */
export const WHOLE: Readonly<Record<string, string>> = {
  "a newsletter's box at the end": paper({
    title: "What the ledgers say",
    main: `<main><article><h1>What the ledgers say</h1>${paragraphs(EN)}<div class="newsletter fade-in"><h3>Letters from the lake</h3><p>Subscribe to read our stories first, every Friday.</p><form><input type="email"><button>Subscribe</button></form></div></article></main>`,
  }),
  "an article about paywalls": paper({
    title: "Why papers fade their texts",
    main: `<main><article><h1>Why papers fade their texts</h1><p>Whoever opens a paper's site today sees two paragraphs, and then a gradient, and then a box in which the house asks for money …</p><h2>“Subscribe to continue reading”</h2><p>That is what the box says in nearly every country, and the houses have tried hundreds of other sentences, of which none has sold more.</p><p>The text behind the gradient is often still there, which is why some readers switch styles off, and why the houses now send less of it.</p></article></main>`,
  }),
  "an article whose last words are those of a box": paper({
    title: "The box",
    main: `<main><article><h1>The box</h1><p>${EN[0]}</p><p>And at the very end of the ledger, as if somebody had known what would become of papers, there is one sentence more …</p><blockquote><p>Subscribe to continue reading</p></blockquote></article></main>`,
  }),
  "a login link in the head": paper({
    title: "What the ledgers say",
    main: `<main><p><a href="/login">Log in to continue reading where you left off</a></p><article><h1>What the ledgers say</h1>${paragraphs([EN[0]!, EN[1]!, `${EN[2]?.slice(0, -1)} …`])}</article></main>`,
  }),
  "a teaser that leads on": paper({
    title: "The river",
    main: `<main><article><h1>The river</h1><p>${EN[0]?.slice(0, -1)} …</p><p><a href="/river/2">Continue reading</a></p></article><article><h2>The harbour</h2><p>${EN[1]?.slice(0, -1)} …</p><p><a href="/harbour">Read more</a></p></article></main>`,
  }),
  "a shop's badge for members": paper({
    title: "Rain coat",
    main: `<main><h1>Rain coat</h1><span class="badge">Members only</span><p>A coat of waxed cotton for the ferry and the field, with a hood that stays where it is put, two pockets that close, and seams that keep the rain out for hours …</p><p>Price for members: 89.00</p><button>Log in to see your price</button></main>`,
  }),
  "a podcast's page": paper({
    title: "Episode 12: the ledgers",
    main: `<main><article><h1>Episode 12: the ledgers</h1><p>In this episode we cross the Ombrel with Maren, who has kept a ledger of every crossing since she was nineteen, and talk about ice, pencils and patience …</p><p>Subscribe to keep listening, wherever you get your podcasts.</p><a href="https://pods.example/12">Subscribe</a></article></main>`,
  }),
  "an offer in the middle of a whole text": paper({
    title: "What the ledgers say",
    main: `<main><article><h1>What the ledgers say</h1><p>${EN[0]?.slice(0, -1)} …</p><div class="box"><p>Already a subscriber? <a href="/login">Log in</a></p></div>${paragraphs([...EN.slice(1), ...EN, ...EN.slice(1)])}</article></main>`,
  }),
  "a whole text before an offer": paper({
    title: "What the ledgers say",
    main: `<main><article><h1>What the ledgers say</h1>${paragraphs([...EN, ...EN])}<div class="box"><p>Subscribe to continue reading the Courier every day.</p><a href="/offers">See the offers</a></div></article></main>`,
  }),
};

const CONSENT =
  "<h2>We value your privacy</h2><p>We and 230 partners keep cookies on your device, to count readers and to choose what is shown to them. You may change your mind at any time.</p><button>Accept all</button><button>Manage settings</button>";

/** A consent wall, over an article and alone; nobody is to index either. */
export const consentWall = (isAlone: boolean): Readonly<Record<string, string>> => {
  const title = isAlone ? "Before you continue" : "What the ledgers say";
  const article = isAlone ? "" : `<main><article><h1>${title}</h1>${paragraphs(EN)}</article></main>`;
  const pageOf = (before: string, after: string): string =>
    `<!doctype html><html lang="en"><head><title>${title}</title><meta name="robots" content="noindex"></head><body>${before}${article}${after}</body></html>`;
  return {
    "a dialog before it": pageOf(`<div role="dialog" class="wall">${CONSENT}</div>`, ""),
    "a box after it": pageOf("", `<div id="cmp"><div>${CONSENT}</div></div>`),
    "without a box": pageOf(CONSENT, ""),
  };
};
