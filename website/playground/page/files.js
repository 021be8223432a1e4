// Files that are dropped or chosen, with their paths. Weights stay where they are: a text needs none of them.

const WEIGHTS = /(?<!coremldata)\.(bin|npy|npz|safetensors)$/i;
const OURS = /\.(mil|mlmodel|pb|txtpb|zip)$|\.(mlpackage|mlmodelc)\/|(^|\/)Manifest\.json$/i; // of a folder, which may have all sorts
const MOST = 64 << 20; // bytes

export async function dropped(transfer) {
  const entries = [...transfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const files = [];
  for (const entry of entries.filter(Boolean)) {
    if (entry instanceof File) files.push({ path: entry.name, file: entry });
    else await walk(entry, files);
  }
  return files;
}

export function chosen(list) {
  return [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

async function walk(entry, files) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    files.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const inside = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // some at a time
    if (!inside.length) return;
    for (const each of inside) await walk(each, files);
  }
}

// The files' bytes, for the worker. Throws where they are more than a page can take.
export async function contents(files) {
  const wanted = files.filter(({ path }) => !WEIGHTS.test(path) && (OURS.test(path) || !path.includes("/")));
  const size = wanted.reduce((sum, { file }) => sum + file.size, 0);
  if (size > MOST) throw new Error(`these are ${Math.ceil(size / 1e6)} MB, which is too much for a page: use \`miltext print\``);
  return Promise.all(wanted.map(async ({ path, file }) => ({ path, bytes: await file.arrayBuffer() })));
}
