// Tries what website/playground/page/link.js takes and gives, where the browser packs and where it does not.
import assert from "node:assert/strict";

const { fromFragment, linkTo, TooLarge } = await import(process.argv[2]);
const PAGE = "https://example.org/playground/#text=old";
const zeros = "0".repeat(9 << 20);
const tries = async (text) => fromFragment(new URL(await linkTo(text, PAGE)).hash);

for (const text of ["", "\ufeffprogram(1.3)", "\u{1f600}\r\n"]) assert.equal(await tries(text), text);
await assert.rejects(linkTo(zeros, PAGE), (error) => error instanceof TooLarge && /8 MiB/.test(error.message));
const many = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("hex"); // which packs to half
await assert.rejects(linkTo(many, PAGE), /send the file/);

const packed = new Blob([zeros]).stream().pipeThrough(new CompressionStream("deflate"));
const large = `#text=${Buffer.from(await new Response(packed).arrayBuffer()).toString("base64url")}`;
await assert.rejects(fromFragment(large), (error) => error instanceof TooLarge && /8 MiB/.test(error.message));
for (const broken of ["#text=", "#text=broken", large.slice(0, 900), "#plain=_w"]) {
  await assert.rejects(fromFragment(broken), (error) => !(error instanceof TooLarge));
}
for (const none of ["", "#L5", "#other=AA"]) assert.equal(await fromFragment(none), null);
assert.equal(await fromFragment("#plain="), "");

delete globalThis.CompressionStream;
assert.match(await linkTo("a", PAGE), /#plain=YQ$/);
assert.equal(await tries("\u{1f600}"), "\u{1f600}");
