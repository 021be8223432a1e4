// Packs the extension from a folder of its own, with all of its code in one file. MILTEXT_PUBLISHER names the publisher.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { createVSIX } from "@vscode/vsce";
import { build } from "esbuild";

const KEPT = ["README.md", "icon.png", "language-configuration.json", "snippets", "syntaxes"];

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const { scripts, dependencies, devDependencies, ...published } = manifest;
published.publisher = process.env.MILTEXT_PUBLISHER || manifest.publisher;
const folder = mkdtempSync(join(tmpdir(), "mil-"));
try {
  mkdirSync(join(folder, "dist"));
  await build({
    entryPoints: ["extension.js"],
    bundle: true,
    minify: true,
    platform: "node",
    external: ["vscode"],
    outfile: join(folder, "dist", "extension.js"),
  });
  for (const name of KEPT) {
    cpSync(name, join(folder, name), { recursive: true });
  }
  cpSync("../../LICENSE", join(folder, "LICENSE"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...published, main: "./dist/extension.js" }, null, 2));
  writeFileSync(join(folder, ".vscodeignore"), "\n"); // all of this folder is meant
  const packagePath = resolve(process.argv[2] ?? `mil-${manifest.version}.vsix`);
  await createVSIX({ cwd: folder, packagePath, dependencies: false, allowMissingRepository: true });
} finally {
  rmSync(folder, { recursive: true });
}
