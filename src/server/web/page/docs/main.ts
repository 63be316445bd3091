import { byId, fill } from "../dom.ts";
import { keyHeader, problemMessage, request } from "../http.ts";

type Outgoing = { readonly headers: Readonly<Record<string, string>> };

/** Declares the global of swagger-ui-bundle.js, which the page loads first. */
declare const SwaggerUIBundle: (options: {
  readonly url: string;
  readonly dom_id: string;
  readonly deepLinking: boolean;
  readonly validatorUrl: null;
  readonly requestInterceptor: (outgoing: Outgoing) => Outgoing;
}) => unknown;

const DOCUMENT = "openapi.json";

/** Requests the document itself first, because Swagger UI cannot ask for a key after a 401. */
async function show(): Promise<void> {
  const place = byId("swagger-ui", HTMLElement);
  try {
    await request(DOCUMENT);
  } catch (error) {
    fill(
      place,
      problemMessage(error, () => void show()),
    );
    return;
  }
  fill(place);
  SwaggerUIBundle({
    url: DOCUMENT,
    dom_id: "#swagger-ui",
    deepLinking: true,
    validatorUrl: null,
    // A key from its "Authorize" button overrides the tab's.
    requestInterceptor: (outgoing) =>
      Object.assign(outgoing, { headers: { ...keyHeader(), ...outgoing.headers } }),
  });
}

void show();
