import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import project from "../../../project.json" with { type: "json" };
import { VARIABLES } from "../../../src/settings/index.ts";
import { runCommand } from "../../support/command.ts";

const ROOT = join(import.meta.dir, "../../..");
const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();
const KNOWN = new Set<string>(Object.values(VARIABLES).map(({ variable }) => variable));
/** Read by the AWS rules rather than by settings of ours. */
const OF_AWS = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
const PORT = String(VARIABLES.port.fallback);

type Json = { readonly [key: string]: unknown };
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

/** Everything below a value that has this key. */
function* having(key: string, value: unknown): Generator<Json> {
  if (!isObject(value)) return;
  if (key in value) yield value;
  for (const inner of Object.values(value)) yield* having(key, inner);
}

const wordsOf = (value: unknown): string[] => (value as readonly string[]).map(String);

/** The words of a container are a command that there is, with flags that it has. */
async function expectCommand(words: readonly string[]): Promise<void> {
  const command = words.filter((word, place) => !word.startsWith("-") && !words[place - 1]?.startsWith("-"));
  const help = await runCommand([...command, "--help"]);
  expect({ words, code: help.exitCode }).toEqual({ words, code: 0 });
  for (const flag of words.filter((word) => word.startsWith("--")))
    expect(help.stdout.match(/--[a-z-]+/g)).toContain(flag);
}

const composeOf = async (name: string) =>
  Bun.YAML.parse(await read(`scripts/deploy/${name}`)) as {
    readonly services: Readonly<Record<string, Json>>;
    readonly volumes: Json;
  };

function expectVariables(names: readonly string[]): void {
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !KNOWN.has(name) && !OF_AWS.includes(name))).toEqual([]);
}

describe("the Compose file", async () => {
  const file = await composeOf("compose.yaml");
  const ours = Object.values(file.services).filter(({ image }) => image === project.image);
  test("names our image", () => expect(ours.length).toBe(3));

  test("starts the parts that there are, with settings that there are", async () => {
    expect(Object.keys(file.services)).toEqual(["database", "migrate", "api", "worker"]);
    for (const { command } of ours) await expectCommand(wordsOf(command));
    for (const { environment } of ours) expectVariables(Object.keys(environment as Json));
  });

  test("waits for services that it has, keeps its state in volumes that it has, and opens our port", () => {
    for (const service of Object.values(file.services)) {
      for (const name of Object.keys((service.depends_on as Json | undefined) ?? {}))
        expect(Object.keys(file.services)).toContain(name);
      for (const volume of wordsOf(service.volumes ?? []))
        expect(Object.keys(file.volumes)).toContain(volume.split(":")[0] ?? "");
    }
    expect(file.services.api?.ports).toEqual([`127.0.0.1:${PORT}:${PORT}`]);
    const { ARTICLE_EXTRACTOR_STORE_URL } = (ours[0]?.environment ?? {}) as Json;
    expect(wordsOf(ours[0]?.volumes).map((volume) => volume.split(":")[1])).toEqual([
      new URL(String(ARTICLE_EXTRACTOR_STORE_URL)).pathname,
    ]);
  });
});

test("the Compose file of documentation search starts it, on a port that its health check asks", async () => {
  const { services, volumes } = await composeOf("compose.search.yaml");
  const { search } = services;
  expect(search?.image).toBe(project.image);
  const words = wordsOf(search?.command);
  await expectCommand(words);
  const environment = search?.environment as Json;
  expectVariables(Object.keys(environment));
  const port = words[words.indexOf("--port") + 1] ?? "";
  expect([environment.PORT, search?.ports]).toEqual([port, [`127.0.0.1:${port}:${port}`]]);
  expect(wordsOf(search?.volumes)).toEqual([
    expect.stringContaining(`:${words[words.indexOf("--config") + 1]}:ro`),
    `${Object.keys(volumes)[0]}:/data`,
  ]);
});

test.each(["compose.yaml", "compose.search.yaml"])(
  "containers of %s can write nothing but their volumes, and have no rights of root",
  async (name) => {
    const { services } = await composeOf(name);
    for (const service of Object.values(services).filter(({ image }) => image === project.image))
      expect(service).toMatchObject({
        read_only: true,
        tmpfs: ["/tmp"],
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
  },
);

describe("the Kubernetes example", async () => {
  const text = await read("scripts/deploy/kubernetes.yaml");
  const objects = text.split(/^---$/m).map((part) => Bun.YAML.parse(part) as Json);
  const named = (kind: string, name: string): Json | undefined =>
    objects.find((object) => object.kind === kind && (object.metadata as Json).name === name);
  const containers = objects.flatMap((object) => [...having("args", object)]);

  test("runs commands and settings that there are", async () => {
    expect(containers.length).toBe(3);
    for (const { args } of containers) await expectCommand(wordsOf(args));
    const settings = [...having("data", objects), ...having("stringData", objects)].flatMap((object) =>
      Object.keys((object.data ?? object.stringData) as Json),
    );
    expectVariables(settings);
    for (const { envFrom } of containers)
      for (const reference of envFrom as readonly Json[])
        for (const [kind, value] of Object.entries(reference))
          expect(
            named(kind === "secretRef" ? "Secret" : "ConfigMap", String((value as Json).name)),
          ).toBeDefined();
  });

  test("probes paths and ports that the program has", async () => {
    const site = await read("src/server/api/site.ts");
    const probes = [...having("httpGet", objects)].map(({ httpGet }) => httpGet as Json);
    expect(probes.length).toBe(4);
    for (const { path, port } of probes) {
      expect(site).toContain(`path: "${path}"`);
      expect(String(port)).toBe(PORT);
    }
    for (const { containerPort, targetPort } of [
      ...having("containerPort", objects),
      ...having("targetPort", objects),
    ])
      expect(String(containerPort ?? targetPort)).toBe(PORT);
    expect(named("ConfigMap", "article-extractor")?.data).toMatchObject({ PORT });
  });

  test("selects pods that it makes, and scales a deployment that it has by a metric that there is", async () => {
    const labels = [...having("labels", objects)].map((metadata) => metadata.labels as Json);
    const selectors = [...having("selector", objects)].map(({ selector }) => selector as Json);
    for (const selector of selectors)
      expect(labels).toContainEqual((selector.matchLabels ?? selector) as Json);
    const [scaler] = [...having("scaleTargetRef", objects)];
    const { kind, name } = (scaler?.scaleTargetRef ?? {}) as Json;
    expect(named(String(kind), String(name))).toBeDefined();
    const metrics = [...having("target", objects)].map(({ metric }) => String((metric as Json).name));
    const listed = [...(await read("docs/operations.md")).matchAll(/`(\w+)`/g)].map(([, word]) => word);
    for (const metric of metrics)
      expect(listed).toContain(metric.replace(`${VARIABLES.metricsNamespace.fallback}_`, ""));
  });
});
