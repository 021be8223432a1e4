// A text in a link: after `#text=` deflated, after `#plain=` as it is, each as UTF-8 in base64url.

const LONGEST = 60_000; // characters; longer ones are cut off by programs that people send links with
const LARGEST = 8 << 20; // bytes of a text that a link is unpacked to

// What a link cannot hold; its message says why, and what to do.
export class TooLarge extends Error {}

// The link to a page with a text. Throws TooLarge.
export async function linkTo(text, page) {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > LARGEST) throw new TooLarge(`A link holds no text of more than ${LARGEST >> 20} MiB: send the file.`);
  const link = new URL(await fragment(bytes), page).href;
  if (link.length <= LONGEST) return link;
  const says = `A link to this text would have ${link.length} characters, and more than ${LONGEST} are cut off on their way`;
  throw new TooLarge(`${says}: send the file.`);
}

async function fragment(bytes) {
  if (!("CompressionStream" in globalThis)) return `#plain=${base64(bytes)}`;
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return `#text=${base64(new Uint8Array(await new Response(packed).arrayBuffer()))}`;
}

// The text of a fragment, null where it has none. Throws TooLarge, or another error where it is damaged.
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
    if (size > LARGEST) throw new TooLarge(`The text of this link has more than ${LARGEST >> 20} MiB, and is not read: ask for the file.`);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

function base64(bytes) {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
