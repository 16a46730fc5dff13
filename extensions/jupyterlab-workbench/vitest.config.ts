// View tests in a document without layout: style sheets are text, as in the build; the graph's worker is not loaded.

import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    {
      name: "text",
      enforce: "pre",
      load(id) {
        if (id.endsWith(".css")) return `export default ${JSON.stringify(readFileSync(id, "utf8"))};`;
        return id.endsWith("?inline") ? 'export default "";' : null;
      },
    },
  ],
  test: {
    environment: "jsdom",
    include: ["tests/**/*.test.{ts,tsx}"],
    setupFiles: ["tests/setup.ts"],
    testTimeout: 60_000,
    // one document for all files: making one takes longer than the tests of a file
    pool: "threads",
    maxWorkers: 1,
    isolate: false,
  },
});
