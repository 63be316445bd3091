import { FULL, testEveryPage } from "../support/pages/every-page.ts";

await testEveryPage(FULL);
