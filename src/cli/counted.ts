/** `1 document`, `2 documents`. */
export const countedDocuments = (count: number): string =>
  `${count} ${count === 1 ? "document" : "documents"}`;
