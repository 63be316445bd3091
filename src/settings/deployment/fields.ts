/** The part of JSON Schema that names fields. */
export type JsonField = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonField>>;
  readonly items?: JsonField;
  readonly anyOf?: readonly JsonField[];
  readonly oneOf?: readonly JsonField[];
  readonly const?: unknown;
};

type Path = readonly (string | number)[];

/**
 * The names of the fields that a schema knows at a path.
 * @param source the `source_type` of the tenant that the path leads into, which selects one of its forms
 */
export function fieldsOf(schema: JsonField, path: Path, source: unknown): string[] {
  const forms = formsOf(schema, source);
  const [step, ...rest] = path;
  if (step === undefined) return forms.flatMap((form) => Object.keys(form.properties ?? {}));
  return forms.flatMap((form) => {
    const next = typeof step === "number" ? form.items : propertyOf(form, step);
    return next ? fieldsOf(next, rest, source) : [];
  });
}

/**
 * Paths that hold a list instead of an object. A check of an object's fields sees no difference between `[]`
 * and `{}`.
 */
export function listsForObjects(schema: JsonField, json: unknown, path: Path = []): Path[] {
  const source = typeof json === "object" && json !== null && "source_type" in json ? json.source_type : null;
  return formsOf(schema, source).flatMap((form) => {
    if (form.type === "object" && Array.isArray(json)) return [path];
    if (Array.isArray(json)) return json.flatMap((item, index) => below(form.items, item, [...path, index]));
    if (typeof json !== "object" || json === null) return [];
    return Object.entries(json).flatMap(([key, value]) =>
      below(propertyOf(form, key), value, [...path, key]),
    );
  });
}

/** Paths of all fields that the schema does not know; fields below them are not reported. */
export function unknownFields(schema: JsonField, json: unknown, path: Path = []): Path[] {
  if (typeof json !== "object" || json === null) return [];
  const source = "source_type" in json ? json.source_type : null;
  const forms = formsOf(schema, source);
  if (Array.isArray(json)) {
    const item = forms.find(({ items }) => items)?.items;
    return item ? json.flatMap((part, index) => unknownFields(item, part, [...path, index])) : [];
  }
  if (!forms.some(({ properties }) => properties)) return [];
  return Object.entries(json).flatMap(([key, value]) => {
    const field = forms.map((form) => propertyOf(form, key)).find((known) => known !== undefined);
    return field ? unknownFields(field, value, [...path, key]) : [[...path, key]];
  });
}

// Unknown fields are not walked, because they may be nested without end.
const below = (schema: JsonField | undefined, json: unknown, path: Path): Path[] =>
  schema ? listsForObjects(schema, json, path) : [];

const propertyOf = ({ properties }: JsonField, name: string): JsonField | undefined =>
  properties && Object.hasOwn(properties, name) ? properties[name] : undefined;

function formsOf(schema: JsonField, source: unknown): readonly JsonField[] {
  const forms = schema.anyOf ?? schema.oneOf;
  if (!forms) return [schema];
  const own = forms.filter((form) => form.properties?.source_type?.const === source);
  return (own.length > 0 ? own : forms).flatMap((form) => formsOf(form, source));
}
