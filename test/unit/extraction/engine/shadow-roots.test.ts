import { describe, expect, test } from "bun:test";
import { articleOf, extract, PROSE } from "../../../support/extraction.ts";

const textOf = async (inner: string): Promise<string> => (await articleOf(`<main>${inner}</main>`)).text;
const root = (content: string, mode = "open"): string =>
  `<template shadowrootmode="${mode}">${content}</template>`;

describe("a declared shadow root", () => {
  test("holds the content of its element where its slots are", async () => {
    const text = await textOf(
      `<x-card>${root(`<style>p{color:red}</style><h2>Above</h2><slot></slot><p>Below ${PROSE}</p>`)}<p>Inside ${PROSE}</p></x-card>`,
    );
    expect(text.match(/Above|Inside|Below/g)).toEqual(["Above", "Inside", "Below"]);
  });

  test("gives each named slot its own, and an empty one what the page says for it", async () => {
    const text = await textOf(
      `<x-card>${root(`<slot name="first">none</slot><slot></slot><slot name='last'></slot><p>Foot ${PROSE}</p><slot name=other>Else ${PROSE}</slot>`, "closed")}
       <p slot="last">Third ${PROSE}</p><p>Second ${PROSE}</p><p slot=first>First ${PROSE}</p></x-card>`,
    );
    expect(text.match(/First|Second|Third|Foot|Else|none/g)).toEqual([
      "First",
      "Second",
      "Third",
      "Foot",
      "Else",
    ]);
  });

  test("stands in its place where roots are in each other", async () => {
    const inner = `<x-b>${root(`<p>Two ${PROSE}</p><slot></slot>`)}<p>Three ${PROSE}</p></x-b>`;
    const text = await textOf(
      `<p>Zero ${PROSE}</p><x-a>${root(`<p>One ${PROSE}</p>${inner}<slot></slot><p>Five ${PROSE}</p>`)}<p>Four ${PROSE}</p></x-a>`,
    );
    expect(text.match(/Zero|One|Two|Three|Four|Five/g)).toEqual([
      "Zero",
      "One",
      "Two",
      "Three",
      "Four",
      "Five",
    ]);
  });

  test("costs no more than its length, however many there are", async () => {
    const many = `<x-a>${root("<slot></slot>")}`.repeat(5_000);
    expect((await extract(`${many}<p>${PROSE}</p>`)).links).toEqual([]);
    const slots = `<x-a>${root("<slot></slot>".repeat(10_000))}<p>${PROSE}</p></x-a>`;
    expect((await articleOf(slots)).text).toContain(PROSE.trim());
  });
});
