declare module "*.txt" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: text imports have no named form
  export default text;
}

declare module "swagger-ui-dist/swagger-ui-bundle.js" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: file imports have no named form
  export default path;
}

declare module "*.css" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: file imports have no named form
  export default path;
}
