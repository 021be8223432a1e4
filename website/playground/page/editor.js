// The editor of the text, and the views of texts that are made of it.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { mil } from "./highlight.js";

const SEVERITIES = { error: "error", warning: "warning", note: "info" };
const SHARED = [lineNumbers(), highlightSpecialChars(), drawSelection(), search({ top: true }), bracketMatching(), indentUnit.of("    ")];

export class Editor {
  // `onEdit(text)` hears of each change of the text.
  constructor(parent, label, onEdit) {
    const heard = EditorView.updateListener.of((update) => update.docChanged && onEdit());
    const keys = keymap.of([...lintKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap]);
    const extensions = [SHARED, history(), highlightActiveLine(), mil, keys, heard, named(label)];
    parent.replaceChildren(); // the page says there that this is loading
    this.view = new EditorView({ parent, state: EditorState.create({ extensions }) });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  // Puts another text in place, which the history can undo.
  replace(text) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true });
  }

  // Changes the text into another that says much the same; the cursor stays.
  mend(text) {
    this.apply(change(this.text, text));
  }

  apply(edit) {
    this.view.dispatch({ changes: edit, userEvent: "input.fix" });
  }

  // Shows a stretch of the text, and goes there.
  show(from, to = from) {
    const most = this.view.state.doc.length;
    const selection = { anchor: Math.min(from, most), head: Math.min(to, most) };
    this.view.dispatch({ selection, effects: EditorView.scrollIntoView(selection.anchor, { y: "center" }) });
    this.view.dom.scrollIntoView({ block: "nearest" }); // on a phone, the text is above
    this.view.focus();
  }

  showLine(number) {
    const line = this.view.state.doc.line(Math.max(1, Math.min(number, this.view.state.doc.lines)));
    this.show(line.from, line.to);
  }

  // Underlines findings; each offers what it suggests.
  underline(findings) {
    const most = this.view.state.doc.length;
    const marks = findings.filter((each) => each.start).map((each) => ({
      from: Math.min(each.start.unit, most),
      to: Math.min(each.end.unit, most),
      severity: SEVERITIES[each.severity],
      source: each.code,
      message: [each.message, ...each.notes.map((note) => `note: ${note.message}`)].join("\n"),
      actions: each.edit ? [{ name: "Apply", apply: (_, from) => this.apply(moved(each.edit, from - each.start.unit)) }] : [],
    }));
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }
}

// A text to read, in a pane.
export class Reading {
  constructor(label, isMil) {
    this.label = label;
    this.box = Object.assign(document.createElement("div"), { className: "reading" });
    const keys = keymap.of([...searchKeymap, ...defaultKeymap]);
    const extensions = [SHARED, isMil ? mil : [], keys, EditorState.readOnly.of(true), named(label)];
    this.view = new EditorView({ parent: this.box, state: EditorState.create({ extensions }) });
  }

  set text(text) {
    this.view.dispatch({ changes: change(this.view.state.doc.toString(), text) });
  }
}

// An edit of a text to which something was added before its place.
function moved({ from, to, insert }, by) {
  return { from: from + by, to: to + by, insert };
}

// The one stretch in which a text differs from another: what is around it stays where it is in sight.
function change(old, text) {
  const least = Math.min(old.length, text.length);
  let [from, behind] = [0, 0];
  while (from < least && old[from] === text[from]) from++;
  while (behind < least - from && old.at(-1 - behind) === text.at(-1 - behind)) behind++;
  return { from, to: old.length - behind, insert: text.slice(from, text.length - behind) };
}

function named(label) {
  return EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocapitalize: "off" });
}
