// SPDX-License-Identifier: LGPL-3.0-only
// Builds the page into built/: three files with fixed names, compressed without a date, so that equal sources give equal
// bytes. They are part of the weir program.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

/// Their licence asks that it goes with each copy.
const licences = ["svelte/LICENSE.md", "uplot/LICENSE"].map((file) => readFileSync(join("node_modules", file), "utf8").trim());

const compressed = {
  name: "compressed",
  closeBundle() {
    const folder = process.env.WEIR_PAGE_BUILT ?? "built";
    for (const name of readdirSync(folder).filter((file) => !file.endsWith(".gz"))) {
      writeFileSync(join(folder, name + ".gz"), gzipSync(readFileSync(join(folder, name)), { level: 9 }));
      rmSync(join(folder, name));
    }
  },
};

export default defineConfig({
  plugins: [svelte(), compressed],
  esbuild: { legalComments: "inline" },
  build: {
    outDir: process.env.WEIR_PAGE_BUILT ?? "built",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: { output: { banner: "/*! Has parts of svelte and uplot.\n" + licences.join("\n\n") + "\n*/", entryFileNames: "page.js", assetFileNames: "page.[ext]" } },
  },
});
