// What tests, benches and scripts use of this room besides its door; nothing of the product does.
export { parseArguments } from "./arguments.ts";
export { parseLockFile } from "./commands/documents/lock-file.ts";
export { readCrawlCommand } from "./commands/pages/crawl.ts";
export { isWithin } from "./commands/pages/crawl-exit.ts";
export { readExtractCommand } from "./commands/pages/extract-options.ts";
export { changeDeployment } from "./commands/tenants/change-file.ts";
export { COMMANDS, type Command, CRAWL_COMMAND, EXTRACT_COMMAND } from "./commands.ts";
export { formatCompletions } from "./completions.ts";
export { FLAG_GROUPS, type Flag } from "./flags/flag.ts";
export { CRAWL_ONLY_FLAGS, EXTRACT_FLAGS } from "./flags/pages.ts";
export { formatHelp, formatOverview } from "./help.ts";
export { formatManual } from "./manual.ts";
export { createPaint, wrap } from "./terminal/notices.ts";
export { formatDuration, formatProgress, openScreen, Pace } from "./terminal/screen.ts";
export { decodePath, hasRawBytes, pathBytes } from "./words.ts";
