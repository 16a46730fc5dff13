// What a step left as it was and what it costs, a sentence each: often many, so they open on a click.

export function Notes({ notes }: { notes: readonly string[] }): JSX.Element | null {
  if (!notes.length) return null;
  return (
    <details className="wbk-notes">
      <summary>
        {notes.length} note{notes.length > 1 ? "s" : ""}
      </summary>
      <ul>
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </details>
  );
}
