// One element's value, its direct inputs, and the origin of a value that is not finite.

import { useOwnPart } from "../../model/hooks";
import type { Sizes } from "../../model/selection";
import { Waiting } from "../../waiting";
import type { ElementView, ValueView } from "../../protocol";
import { atSizes, separated } from "../../model/numbers";

export interface Element {
  readonly array: string;
  readonly coordinates: Sizes;
  readonly statement: string | null;
  readonly instance: Sizes;
  /** Its name for reading. */
  readonly text: string;
}

const SEED = 0;

export function Value(props: {
  trail: readonly Element[];
  sizes: Sizes;
  follow: (element: ElementView) => void;
  back: (position: number) => void;
}): JSX.Element {
  const { trail, sizes, follow, back } = props;
  const at = trail.at(-1);
  const loaded = useOwnPart("value", {
    array: at?.array ?? "",
    coordinates: at?.coordinates ?? {},
    sizes,
    seed: SEED,
  });
  return (
    <section className="wbk-value" aria-label="Value">
      <Trail trail={trail} back={back} />
      {loaded.value ? <Found value={loaded.value} follow={follow} /> : <Waiting loaded={loaded} what="the value" />}
    </section>
  );
}

function Trail({ trail, back }: { trail: readonly Element[]; back: (position: number) => void }): JSX.Element | null {
  if (trail.length < 2) return null;
  return (
    <nav aria-label="The way here">
      <ol className="wbk-trail">
        {trail.map((element, position) => (
          <li key={element.text}>
            <button
              className="wbk-button wbk-link"
              type="button"
              {...(position === trail.length - 1 ? { "aria-current": "true" } : {})}
              onClick={() => back(position)}
            >
              {element.text}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Found({ value, follow }: { value: ValueView; follow: (element: ElementView) => void }): JSX.Element {
  const { of, line } = value;
  return (
    <>
      <p className="wbk-value-of">
        <code>{nameOf(of)}</code> = <Amount element={of} />
      </p>
      {value.equation && <pre className="wbk-code">{value.equation}</pre>}
      {line && (
        <p className="wbk-faint">
          <code>{line.text.trim()}</code> ({line.place})
        </p>
      )}
      <Cause value={value} follow={follow} />
      <Inputs value={value} follow={follow} />
      <p className="wbk-hint">
        By the reference{separated(atSizes(value.sizes).trim())}, seed {value.seed}, float64.
        {value.note && ` ${value.note[0]?.toUpperCase()}${value.note.slice(1)}.`}
      </p>
    </>
  );
}

function Amount({ element }: { element: ElementView }): JSX.Element {
  return (
    <span className={element.not_finite ? "wbk-amount wbk-not-finite" : "wbk-amount"}>
      {element.not_finite ? (element.shape.length ? `${shapeText(element)} ${element.not_finite}` : element.text) : element.text}
      {element.not_finite && <span className="wbk-not-finite-badge">not finite</span>}
    </span>
  );
}

function shapeText({ shape }: ElementView): string {
  return `(${shape.join(", ")}):`;
}

/** The way from a non-finite element back to where it began. */
function Cause(props: { value: ValueView; follow: (element: ElementView) => void }): JSX.Element | null {
  const { cause } = props.value;
  const start = cause.at(-1);
  if (!start) return null;
  return (
    <div className="wbk-cause" role="note">
      {cause.length === 1 ? (
        <p>It began here: all inputs are finite.</p>
      ) : (
        <>
          <p>
            It began {cause.length - 1} step{cause.length > 2 ? "s" : ""} back, in <Link element={start} follow={props.follow} />,
            whose inputs are all finite.
          </p>
          <details>
            <summary>The way there</summary>
            <ol className="wbk-inputs">
              {cause.map((element) => (
                <li key={nameOf(element)}>
                  <Link element={element} follow={props.follow} /> = <Amount element={element} />
                </li>
              ))}
            </ol>
          </details>
        </>
      )}
    </div>
  );
}

function Inputs({ value, follow }: { value: ValueView; follow: (element: ElementView) => void }): JSX.Element {
  if (!value.inputs.length) return <p className="wbk-hint">It reads nothing.</p>;
  return (
    <>
      <h4>Came from</h4>
      <ul className="wbk-inputs">
        {value.inputs.map((input) => (
          <li key={nameOf(input)}>
            <Link element={input} follow={follow} /> = <Amount element={input} />
          </li>
        ))}
        {value.more_inputs > 0 && <li className="wbk-faint">and {value.more_inputs} more</li>}
      </ul>
    </>
  );
}

function Link({ element, follow }: { element: ElementView; follow: (element: ElementView) => void }): JSX.Element {
  return (
    <button className="wbk-button wbk-link" type="button" onClick={() => follow(element)}>
      {nameOf(element)}
    </button>
  );
}

export function asElement(element: ElementView): Element {
  const { array, coordinates, statement, instance } = element;
  return { array, coordinates, statement, instance, text: nameOf(element) };
}

export function nameOf({ array, coordinates }: Pick<ElementView, "array" | "coordinates">): string {
  const inside = Object.entries(coordinates).map(([dim, value]) => `${dim}=${value}`);
  return inside.length ? `${array}[${inside.join(", ")}]` : array;
}
