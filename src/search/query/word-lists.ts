/**
 * Words that form a question but say nothing about its subject; folded, with apostrophes. They are left out
 * of questions only: `the who`, `if` and `for loop` are searched unchanged.
 */
export const QUESTION_WORDS: ReadonlySet<string> = new Set(
  `a about after again all also am an and any anyone are aren't as at be because been before being between
  both but by came can can't cannot come could couldn't did didn't do does doesn't doing don't each else for
  from get gets getting give got had happen happens has have having he her here hers him his how however i
  i'd i'll i'm i've if in into is isn't it it's its itself just know like made make makes many may me mean
  means might more most much must my myself need no nor not of off on one or other ought our out over own
  please same say seem shall she should shouldn't so some someone something still such sure take tell than
  that that's the their them then there there's these they they're thing things this those through to too up
  us use used using very want was wasn't way we well were what what's when where where's whether which while
  who whom whose why will with without won't work would wouldn't wrong you you're your yours yourself`.split(
    /\s+/,
  ),
);

const OPENERS: ReadonlySet<string> = new Set(
  `am are can cannot could did do does had has have how is isn't may must shall should was were what what's
  when where where's which who whom whose why will would i'm i`.split(/\s+/),
);

/** Whether a query reads like a question: it ends in a question mark or begins as questions do. */
export function isQuestion(query: string, words: readonly string[]): boolean {
  if (/\?["'\s]*$/.test(query.slice(-20))) return true;
  return words.length >= 4 && OPENERS.has(words[0] ?? "");
}
