declare module "*.txt" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: text imports have no named form
  export default text;
}
