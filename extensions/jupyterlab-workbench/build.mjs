// Builds what is committed in workbench/session/static: the views as one ES module, the JupyterLab shell, its
// package.json, and a stamp over the sources by which a machine without Node notices stale files.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../../workbench/session/static");
const manifest = JSON.parse(await readFile(join(here, "package.json"), "utf8"));

async function sourceHash() {
  const sources = (await readdir(join(here, "src"), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(here, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
  const files = [...sources, "build.mjs", "package-lock.json", "package.json", "tsconfig.json"];
  const hash = createHash("sha256");
  for (const file of files.sort()) {
    hash.update(`${file}\0`);
    hash.update((await readFile(join(here, file), "utf8")).replaceAll("\r\n", "\n"));
    hash.update("\0");
  }
  return hash.digest("hex");
}

const options = {
  absWorkingDir: here,
  bundle: true,
  define: { "process.env.NODE_ENV": '"production"' },
  jsx: "automatic",
  charset: "utf8",
  legalComments: "inline",
  loader: { ".css": "text" },
  logLevel: "warning",
  minify: true,
  target: "es2022",
};

await mkdir(out, { recursive: true });
await build({ ...options, entryPoints: ["src/shells/widget.ts"], format: "esm", outfile: join(out, "graph.js") });
await build({
  ...options,
  entryPoints: ["src/shells/mime.ts"],
  format: "iife",
  outfile: join(out, "remoteEntry.js"),
});
const extension = {
  name: manifest.name,
  version: manifest.version,
  description: manifest.description,
  license: manifest.license,
  jupyterlab: {
    extension: false,
    mimeExtension: true,
    _build: { load: "remoteEntry.js", mimeExtension: "./mimeExtension" },
  },
};
await writeFile(join(out, "package.json"), `${JSON.stringify(extension, null, 2)}\n`);
await writeFile(join(out, "sources.sha256"), `${await sourceHash()}\n`);
