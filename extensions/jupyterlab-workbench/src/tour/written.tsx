// Text with names between backticks, and the words on buttons and tabs between asterisks.

export function Written({ text }: { text: string }): JSX.Element {
  return (
    <>
      {text.split(/(`[^`]*`|\*[A-Z][^*]*\*)/).map((part, position) => {
        if (position % 2 === 0) return part;
        return part.startsWith("`") ? <code key={position}>{part.slice(1, -1)}</code> : <b key={position}>{part.slice(1, -1)}</b>;
      })}
    </>
  );
}
