/** A shell says what it is near its start; this runs on the main thread, where a hostile body must not hold it. */
const MAX_LOOK = 32 * 1024;
/** Pages with more words than this say something by themselves. */
const MAX_SHELL_WORDS = 50;

const MOUNT_POINT =
  /<(?:div|main|section|app-root|[a-z]+-app)\b[^>]{0,300}?\b(?:id|data-reactroot|ng-version)\s*=?\s*["']?(?:root|app|__next|__nuxt|___gatsby|svelte|main-app|application|react-root|mount|ember\d*)\b[^>]{0,300}>\s*(?:<noscript\b[\s\S]{0,2000}?<\/noscript>\s*)?<\//i;
const ROOT_COMPONENT = /<app-root\b[^>]{0,300}>\s*(?:loading[^<]{0,40})?<\/app-root>/i;
const ASKS_FOR_SCRIPT =
  /<noscript\b[^>]{0,100}>[\s\S]{0,1500}?\b(?:enable|activate|requires?|need|turn on)\b[\s\S]{0,80}?\bjavascript\b/i;

/**
 * Whether a page is an application's empty shell, which a script in a browser would fill: hardly any words,
 * scripts, and an empty mount point or a plea to enable JavaScript.
 * @param wordCount words of the extracted content, 0 when there is none
 */
export function isEmptyShell(html: string, wordCount: number): boolean {
  if (wordCount > MAX_SHELL_WORDS || !/<script\b/i.test(html)) return false;
  const start = html.slice(0, MAX_LOOK);
  return MOUNT_POINT.test(start) || ROOT_COMPONENT.test(start) || ASKS_FOR_SCRIPT.test(start);
}
