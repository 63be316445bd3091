#!/usr/bin/env node
// Starts the program of this platform, which is in an optional package of its own.
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const { name, version, programs, optionalDependencies } = require("./package.json");
const isWindows = process.platform === "win32";

/** The packages for this machine, the better one first; some installers leave out neither C library. */
function packagesHere() {
  const platform = `${isWindows ? "windows" : process.platform}-${process.arch}`;
  const loader = process.arch === "arm64" ? "/lib/ld-linux-aarch64.so.1" : "/lib64/ld-linux-x86-64.so.2";
  const names = [platform, `${platform}-musl`];
  if (process.platform === "linux" && !existsSync(loader)) names.reverse();
  return names.map((platform) => `${name}-${platform}`).filter((candidate) => programs.includes(candidate));
}

function findProgram(packages) {
  for (const candidate of packages) {
    try {
      return join(
        dirname(require.resolve(`${candidate}/package.json`)),
        `article-extractor${isWindows ? ".exe" : ""}`,
      );
    } catch {}
  }
  return null;
}

function explain(packages) {
  const here = `${process.platform} on ${process.arch}`;
  if (packages.length === 0) {
    const known = programs.map((program) => program.slice(name.length + 1));
    return `there is no program for ${here}, only for ${known.join(", ")}`;
  }
  const missing = `the program for ${here} is not installed: none of ${packages.join(", ")} was found from ${import.meta.dirname ?? import.meta.url}.`;
  if (optionalDependencies === undefined)
    return `${missing}
It is a package of its own. Install both files together: npm install ./${name}-${version}.tgz ./${packages[0]}-${version}.tgz`;
  return `${missing}
It is an optional dependency, which --omit=optional, --no-optional and a node_modules folder of another machine leave out.
Install it with: npm install --include=optional ${name}@${version}`;
}

/** Waits for the program, as its stand-in: what ends this process ends the program, and the other way round. */
function stayBehind(program, words) {
  const child = spawn(program, words, { stdio: "inherit" });
  child.on("error", ({ message }) => {
    console.error(`error: ${program} cannot be started: ${message}`);
    process.exitCode = 126;
  });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  // Ctrl-C reaches the program too, from the terminal, and a second signal would end it at once.
  for (const signal of signals)
    process.on(signal, () => void (signal === "SIGINT" && hasTerminal() ? null : child.kill(signal)));
  child.on("exit", (code, signal) => {
    for (const name of signals) process.removeAllListeners(name);
    if (signal === null) process.exitCode = code;
    else process.kill(process.pid, signal);
  });
}

function hasTerminal() {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return isWindows;
  }
}

const packages = packagesHere();
const program = findProgram(packages);
const words = process.argv.slice(2);
if (program === null) {
  console.error(`error: ${explain(packages)}`);
  process.exitCode = 127;
} else if (!isWindows && process.execve) {
  // Newer versions of Node can become the program, so that no second process waits for it.
  process.execve(program, [program, ...words], process.env);
} else {
  stayBehind(program, words);
}
