import { QUICK, testEveryPage } from "../support/pages/every-page.ts";

await testEveryPage(QUICK);
