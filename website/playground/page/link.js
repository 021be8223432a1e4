// A text in a link: after `#text=` deflated, after `#plain=` as it is, each as UTF-8 in base64url.

export const LONGEST = 60_000; // characters; longer ones are cut off by programs that people send links with
const LARGEST = 8 << 20; // characters of a text that a link is unpacked to

export async function toFragment(text) {
  const bytes = new TextEncoder().encode(text);
  if (!("CompressionStream" in globalThis)) return `#plain=${base64(bytes)}`;
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return `#text=${base64(new Uint8Array(await new Response(packed).arrayBuffer()))}`;
}

// The text of a fragment, null where it has none. Throws where it is damaged.
export async function fromFragment(fragment) {
  const [, kind, packed] = /^#(text|plain)=(.*)$/.exec(fragment) ?? [];
  if (!kind) return null;
  const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(kind === "plain" ? bytes : await inflated(bytes));
}

async function inflated(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  const pieces = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    pieces.push(read.value);
    size += read.value.length;
    if (size > LARGEST) throw new Error("it unpacks to too much");
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

function base64(bytes) {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
