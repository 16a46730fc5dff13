// Text of Python documentation.

/** Names between backticks as code. */
export function Marked({ text }: { text: string }): JSX.Element {
  return (
    <>
      {text.split("`").map((part, position) => (position % 2 ? <code key={position}>{part}</code> : part))}
    </>
  );
}
