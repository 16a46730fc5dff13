// Names that are cut where there is little room.

/** The least characters of a shortened name, as a shorter one says nothing; and of one that keeps its end too. */
const [FEWEST, ENDED] = [4, 8];

/** Returns the text, where it is longer than `length` characters without an index (`state[t + 1]`: `state…`), or its
 * middle left out, or its end where that are few; nothing of it where the rest would say nothing. */
export function shortened(text: string, length: number): string {
  const characters = [...text];
  if (characters.length <= length) return text;
  const bare = text.replace(/\[[^[\]]*\]$/, "");
  if (bare && bare !== text) return [...bare].length < length ? `${bare}…` : shortened(bare, length);
  if (length < FEWEST) return "";
  const tail = length < ENDED ? 0 : Math.floor(length / 2) - 1;
  const [head, rest] = [characters.slice(0, length - tail - 1), characters.slice(characters.length - tail)];
  return `${head.join("")}…${rest.join("")}`;
}
