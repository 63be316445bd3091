/** Addresses of one page: none, and those that blogs, manuals, encyclopedias, forums and shops have. */
export const ADDRESSES = [
  null,
  "https://site.example/2024/11/tide",
  "https://docs.site.example/guide/tide",
  "https://wiki.site.example/wiki/Tide",
  "https://site.example/index.php?topic=7",
  "https://shop.site.example/product/tide",
] as const;
