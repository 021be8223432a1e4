// miltext in a worker: Python under Pyodide, whose files are beside this one. It answers one question at a time.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const archive = fetch(new URL("./python.zip", import.meta.url)).then((reply) => {
  if (!reply.ok) throw new Error(`python.zip: ${reply.status} ${reply.statusText}`);
  return reply.arrayBuffer();
});
archive.catch(() => {}); // told when it is needed
const ready = start();
let opened = 0;

async function start() {
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  python.unpackArchive(await archive, "zip", { extractDir: "/miltext" });
  python.runPython("import sys; sys.path.insert(0, '/miltext')");
  const session = python.pyimport("website.playground.session");
  session.answer("findings", "program(1.3)\n{\n}\n"); // what is imported lazily is there when it is needed
  return { python, session };
}

// Puts dropped files into a folder of Python's; returns its path.
function place(python, files) {
  const folder = `/dropped/${(opened += 1)}`;
  python.FS.mkdirTree(folder);
  for (const { path, bytes } of files) {
    const whole = `${folder}/${path}`;
    python.FS.mkdirTree(whole.slice(0, whole.lastIndexOf("/")));
    python.FS.writeFile(whole, new Uint8Array(bytes));
  }
  return folder;
}

onmessage = async ({ data: { id, question, subject } }) => {
  try {
    const { python, session } = await ready;
    const given = question === "opened" ? place(python, subject) : subject;
    postMessage({ id, answer: question === "hello" ? {} : JSON.parse(session.answer(question, given)) });
  } catch (error) {
    const lines = String(error.message ?? error).trim().split("\n"); // of Python's, the last one says what it is
    postMessage({ id, failure: lines.at(-1) });
  }
};
