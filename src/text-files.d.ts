declare module "*.txt" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: text imports have no named form
  export default text;
}

declare module "*.sql" {
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
  // A path or the text, as the import says.
  const file: string;
  // biome-ignore lint/style/noDefaultExport: file imports have no named form
  export default file;
}

declare module "*.svg" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: text imports have no named form
  export default text;
}
