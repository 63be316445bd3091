import stylesPath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import bundlePath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { bundlePageScript } from "./bundle.ts" with { type: "macro" };
import type { EmbeddedPage } from "./embedded.ts";
import docsStyle from "./page/docs/docs.css" with { type: "text" };

const startScript = bundlePageScript("docs/main.ts");

/** Swagger UI for `openapi.json`, which needs no network. */
export const API_DOCS: EmbeddedPage = {
  html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>article-extractor API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/docs.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script type="module" src="docs/start.js"></script>
</body>
</html>
`,
  files: {
    "swagger-ui.css": { type: "text/css; charset=utf-8", source: { path: stylesPath } },
    "swagger-ui-bundle.js": { type: "text/javascript; charset=utf-8", source: { path: bundlePath } },
    "docs.css": { type: "text/css; charset=utf-8", source: { text: docsStyle } },
    "start.js": { type: "text/javascript; charset=utf-8", source: { text: startScript } },
  },
};
