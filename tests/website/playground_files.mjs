// Tries what website/playground/page/files.js takes of files that are dropped.
import assert from "node:assert/strict";

const { chosen, contents } = await import(process.argv[2]);
const taken = {
  "a.png": true, // by itself, it is told
  "w.npy": false,
  "repo/node_modules/x.js": false,
  "repo/a.mil": true,
  "repo/M.mlpackage/Manifest.json": true,
  "repo/M.mlpackage/Data/com.apple.CoreML/model.mlmodel": true,
  "repo/M.mlpackage/Data/com.apple.CoreML/weights/weight.bin": false,
  "M.mlmodelc/coremldata.bin": true,
  "M.mlmodelc/analytics/coremldata.bin": true,
  "M.mlmodelc/weights/weight.bin": false,
  "renamed/Manifest.json": true,
  "renamed/Data/model.mlmodel": true,
};
const files = chosen(Object.keys(taken).map((path) => Object.assign(new Blob(["x"]), { webkitRelativePath: path })));
const read = await contents(files);
assert.deepEqual(read.map(({ path }) => path), Object.keys(taken).filter((path) => taken[path]));
assert.ok(read.every(({ bytes }) => bytes.byteLength === 1));
await assert.rejects(contents([{ path: "large.mil", file: { size: 65 << 20 } }]), /too much for a page/);
