// Builds what is committed in workbench/session/static: the views as one ES module, the JupyterLab shell with its
// package.json and the schema of its settings, and a stamp over the sources by which a machine without Node notices
// stale files.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../../workbench/session/static");
const manifest = JSON.parse(await readFile(join(here, "package.json"), "utf8"));

async function sourceHash() {
  const sources = [];
  for (const folder of ["schema", "src"]) {
    const entries = await readdir(join(here, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    sources.push(...files.map((file) => relative(here, join(file.parentPath, file.name)).replaceAll("\\", "/")));
  }
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

/** `import text from "./….worker.ts?inline"`: a worker's program as text, so that no shell has to serve a file. */
const inlined = {
  name: "inline",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?inline$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.replace("?inline", "")),
      namespace: "inline",
    }));
    onLoad({ filter: /./, namespace: "inline" }, async ({ path }) => {
      const { outputFiles } = await build({ ...options, entryPoints: [path], format: "iife", write: false });
      return { contents: outputFiles[0].text, loader: "text" };
    });
  },
};

await mkdir(out, { recursive: true });
await build({
  ...options,
  plugins: [inlined],
  entryPoints: ["src/shells/widget.ts"],
  format: "esm",
  outfile: join(out, "graph.js"),
});
await build({
  ...options,
  entryPoints: ["src/shells/container.ts"],
  format: "iife",
  outfile: join(out, "remoteEntry.js"),
});
// What a package of JupyterLab's says of itself. JupyterLab reads a schema's version from the second file.
const extension = {
  name: manifest.name,
  version: manifest.version,
  description: manifest.description,
  license: manifest.license,
  jupyterlab: {
    extension: true,
    mimeExtension: true,
    schemaDir: "schema",
    _build: { load: "remoteEntry.js", extension: "./extension", mimeExtension: "./mimeExtension" },
  },
};
const installed = {
  packageManager: "python",
  packageName: "rl-workbench",
  uninstallInstructions: "Use your Python package manager (pip, conda, …) to uninstall the package rl-workbench",
};
const described = `${JSON.stringify(extension, null, 2)}\n`;
const schemas = join(out, "schemas", manifest.name);
await mkdir(schemas, { recursive: true });
await writeFile(join(out, "package.json"), described);
await writeFile(join(out, "install.json"), `${JSON.stringify(installed, null, 2)}\n`);
await writeFile(join(schemas, "package.json.orig"), described);
await writeFile(join(schemas, "plugin.json"), await readFile(join(here, "schema/plugin.json"), "utf8"));
await writeFile(join(out, "sources.sha256"), `${await sourceHash()}\n`);
