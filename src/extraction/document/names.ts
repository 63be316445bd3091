const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

/** Elements that never hold readable content, left out with all that is inside. */
export const DROPPED = set(
  `SCRIPT STYLE TEMPLATE NOSCRIPT IFRAME OBJECT EMBED APPLET CANVAS SVG MATH AUDIO VIDEO INPUT BUTTON SELECT
   TEXTAREA OPTION DATALIST DIALOG HEAD LINK META TITLE BASE FRAME FRAMESET PORTAL SOURCE TRACK MAP AREA
   COLGROUP COL XMP NOEMBED NOFRAMES PLAINTEXT PARAM BGSOUND RP`,
);

/** Elements that start a line of their own; all others are phrases. */
export const BLOCKS = set(
  `ADDRESS ARTICLE ASIDE BLOCKQUOTE BODY CAPTION CENTER DD DETAILS DIR DIV DL DT FIELDSET FIGCAPTION FIGURE
   FOOTER FORM H1 H2 H3 H4 H5 H6 HEADER HGROUP HR LEGEND LI MAIN MENU NAV OL P PRE SEARCH SECTION SUMMARY
   TABLE TBODY TD TFOOT TH THEAD TR UL`,
);

/** Deeper elements are read as plain text: no page that people read goes that deep. */
export const MAX_ELEMENT_DEPTH = 200;

/** Lists, quotations and the like nested deeper are written at this level. */
export const MAX_NESTING = 16;
