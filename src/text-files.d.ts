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
  const text: string;
  // biome-ignore lint/style/noDefaultExport: text imports have no named form
  export default text;
}

declare module "*.css" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: text imports have no named form
  export default text;
}

declare module "*.svg" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: text imports have no named form
  export default text;
}

declare module "*/skill.md" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: text imports have no named form
  export default text;
}
