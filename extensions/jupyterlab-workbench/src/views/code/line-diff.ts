// The difference of two long texts, line by line. A diff of characters over two programs of thousands of lines takes a
// second and finds equal letters, not equal lines.

import { Change, diff, presentableDiff } from "@codemirror/merge";

/** The most letters of changed lines that show their changed words. */
const REFINED = 1500;

/** Returns changes from `a` to `b` as ranges of characters. Equal stretches are whole lines, except in lines that
 * differ little. */
export function lineDiff(a: string, b: string): readonly Change[] {
  const letters = new Map<string, string>();
  const [before, after] = [encoded(a, letters), encoded(b, letters)];
  const found: Change[] = [];
  for (const change of diff(before.text, after.text, { scanLimit: 4000 })) {
    // a change behind the last line includes the end of the line in front of it
    const last = change.toA === before.text.length && change.fromA > 0 && change.fromB > 0;
    const fromA = last ? before.end(change.fromA - 1) : before.start(change.fromA);
    const fromB = last ? after.end(change.fromB - 1) : after.start(change.fromB);
    found.push(...refined(a, b, fromA, before.start(change.toA), fromB, after.start(change.toB)));
  }
  return found;
}

interface Encoded {
  readonly text: string;
  readonly start: (line: number) => number;
  /** Without what ends the line. */
  readonly end: (line: number) => number;
}

/** Encodes every line as one letter, equal lines as the same. */
function encoded(text: string, letters: Map<string, string>): Encoded {
  const lines = text.split("\n");
  const starts: number[] = [];
  let at = 0;
  let made = "";
  for (const line of lines) {
    let letter = letters.get(line);
    if (letter === undefined) {
      letter = letterOf(letters.size);
      letters.set(line, letter);
    }
    made += letter;
    starts.push(at);
    at += line.length + 1;
  }
  return {
    text: made,
    start: (line) => starts[line] ?? text.length,
    end: (line) => (starts[line] ?? 0) + (lines[line] ?? "").length,
  };
}

/** Returns a letter of one code unit, without the halves of pairs. Beyond them all lines are one letter: such a text
 * has more than sixty thousand different lines. */
function letterOf(number: number): string {
  const code = number + 0x20;
  return String.fromCharCode(code < 0xd800 ? code : Math.min(code + 0x800, 0xffff));
}

function refined(a: string, b: string, fromA: number, toA: number, fromB: number, toB: number): readonly Change[] {
  if (fromA === toA || fromB === toB || toA - fromA + toB - fromB > REFINED) {
    return [new Change(fromA, toA, fromB, toB)];
  }
  return presentableDiff(a.slice(fromA, toA), b.slice(fromB, toB)).map(
    (change) => new Change(fromA + change.fromA, fromA + change.toA, fromB + change.fromB, fromB + change.toB),
  );
}
