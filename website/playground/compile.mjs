// Makes the archive of Python files that the page's worker unpacks: wheels and folders, compiled by the very Python that
// runs them. `node compile.mjs FOLDER OUT.zip`: the folder has what is to be at the top of the module path.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadPyodide } from "pyodide";

const [folder, out] = process.argv.slice(2);
const python = await loadPyodide();

function put(from, to) {
  python.FS.mkdirTree(to);
  for (const name of readdirSync(from)) {
    if (statSync(join(from, name)).isDirectory()) put(join(from, name), `${to}/${name}`);
    else python.FS.writeFile(`${to}/${name}`, readFileSync(join(from, name)));
  }
}

put(folder, "/top");
const bytes = python.runPython(`
import compileall, io, pathlib, py_compile, zipfile

top = pathlib.Path("/top")
whole = compileall.compile_dir(top, quiet=1, legacy=True, stripdir="/top", invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
if not whole:
    raise SystemExit("a file cannot be compiled")
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
    for path in sorted(path for path in top.rglob("*") if path.is_file() and path.suffix != ".py"):
        entry = zipfile.ZipInfo(path.relative_to(top).as_posix())
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, path.read_bytes())
packed.getvalue()
`);
writeFileSync(out, bytes.toJs());
