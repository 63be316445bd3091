import { expect } from "bun:test";
import { openSpecifiedTools } from "../../support/specified-tools.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("search");

const { client } = await openSpecifiedTools();

statement("What the service does", "Only tools are exposed", async () => {
  expect(client.getServerCapabilities()).toEqual({ tools: {} });
  // Clients of older revisions may ask nevertheless.
  expect(await client.listResources()).toMatchObject({ resources: [] });
  expect(await client.listResourceTemplates()).toMatchObject({ resourceTemplates: [] });
  expect(await client.listPrompts()).toMatchObject({ prompts: [] });
});
