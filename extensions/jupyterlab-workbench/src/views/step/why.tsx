// Why not: the two instances that show it, a refused step's sentence, and what could be done first or instead.

import { useEffect, useMemo, useRef, useState } from "react";
import { useLineInNotebook, usePart, useStore } from "../../model/hooks";
import type { Sizes } from "../../model/selection";
import { Waiting } from "../../waiting";
import {
  type DomainView,
  type InstanceView,
  type LineView,
  REFUSAL_TITLES,
  type RefusalView,
  type StepView,
  type WhyView,
  type WitnessView,
} from "../../protocol";
import { SmallSizes } from "../instances/small-sizes";
import { type Named, Space } from "../instances/space";
import { openFirst, openStep } from "./steps";

/** `refusal` is what is known already; the picture comes later. */
export function Why({ step, refusal }: { step: StepView; refusal: RefusalView }): JSX.Element {
  const store = useStore();
  return (
    <div className="wbk-why">
      {refusal.witness ? <Witness step={step} witness={refusal.witness} kind={refusal.kind} /> : <Kind kind={refusal.kind} />}
      <Sentence text={refusal.sentence.replace(`${step.text}: `, "")} />
      {refusal.line && <SourceLine line={refusal.line} />}
      <Steps
        title="Possible first, then this step"
        verb="First"
        steps={refusal.repairs}
        open={(first) => openFirst(store, first, step)}
      />
      <Steps
        title="Possible instead"
        verb="Instead"
        steps={refusal.instead}
        open={(other) => openStep(store, other.json)}
      />
    </div>
  );
}

function Kind({ kind }: { kind: RefusalView["kind"] }): JSX.Element {
  return <p className={kind === "dependence" ? "wbk-why-kind wbk-why-dependence" : "wbk-why-kind"}>{REFUSAL_TITLES[kind]}</p>;
}

/** What is long is cut at first, so that what helps can be seen with it. */
function Sentence({ text }: { text: string }): JSX.Element {
  const [whole, setWhole] = useState(false);
  const [clipped, setClipped] = useState(false);
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const shown = place.current;
    if (!shown) return undefined;
    const seen = new ResizeObserver(() => setClipped(shown.scrollHeight > shown.clientHeight + 1));
    seen.observe(shown);
    return () => seen.disconnect();
  }, [text]);
  return (
    <div>
      <p ref={place} className={whole ? "wbk-sentence" : "wbk-sentence wbk-cut-short"}>
        {text}
      </p>
      {!whole && clipped && (
        <button className="wbk-button wbk-link" type="button" onClick={() => setWhole(true)}>
          Read on
        </button>
      )}
    </div>
  );
}

function SourceLine({ line }: { line: LineView }): JSX.Element {
  const show = useLineInNotebook(line);
  return (
    <div className="wbk-source-line">
      <pre className="wbk-code">{line.text.trim()}</pre>
      <span className="wbk-faint">
        {line.place}
      </span>
      {show && (
        <button className="wbk-button wbk-link" type="button" onClick={show}>
          Show in the notebook
        </button>
      )}
    </div>
  );
}

/** The two instances in a picture, under what is wrong with them; in words below it. */
function Witness(props: { step: StepView; witness: WitnessView; kind: RefusalView["kind"] }): JSX.Element {
  const { step, witness, kind } = props;
  const [sizes, setSizes] = useState<Sizes | null>(null);
  const loaded = usePart("why", { step: step.json, sizes });
  const [last, setLast] = useState<WhyView | null>(null);
  if (loaded.value && loaded.value !== last) setLast(loaded.value);
  const shown = loaded.value ?? last;
  const named = useMemo(() => (shown?.pair ? namedBy(shown.pair) : NOBODY), [shown]);
  return (
    <>
      <div className="wbk-why-head">
        <Kind kind={kind} />
        {shown && <SmallSizes sizes={shown.sizes} used={Object.keys(witness.sizes)} set={setSizes} />}
      </div>
      {loaded.value?.remark && <p className="wbk-hint">{loaded.value.remark}.</p>}
      {!loaded.value && <Waiting loaded={loaded} what="the picture" />}
      {shown?.space && (
        <Space
          space={shown.space}
          orderSays="the order in which this step would run them"
          named={named}
        />
      )}
      {(!shown || shown.pair) && <Story witness={shown?.pair ?? witness} space={shown?.space ?? null} />}
    </>
  );
}

const NOBODY: readonly Named[] = [];

function namedBy(witness: WitnessView): readonly Named[] {
  const { source, sink } = witness;
  return [
    { letter: "A", statement: source.statement, coordinates: source.coordinates },
    { letter: "B", statement: sink.statement, coordinates: sink.coordinates },
  ];
}

/** The two instances named, and what is between them. */
function Story({ witness, space }: { witness: WitnessView; space: DomainView | null }): JSX.Element {
  const kinds = new Set(space?.arrows.filter((arrow) => arrow.violated).map((arrow) => arrow.kind));
  const overwrites = kinds.has("overwrites");
  const adds = kinds.has("adds");
  const does = overwrites ? "takes the place of" : adds ? "adds to" : "writes";
  return (
    <dl className="wbk-story">
      <dt>A</dt>
      <dd>
        <code>{witness.source.text}</code> {does} <code>{witness.element_text}</code>
      </dd>
      <dt>B</dt>
      <dd>
        <code>{witness.sink.text}</code>{" "}
        {overwrites && "has still to read it then"}
        {adds && "adds to it too, and might at the same time"}
        {kinds.has("copies") && "reads a copy of it, which would be made before that"}
        {!overwrites && !adds && !kinds.has("copies") && `reads it, but would run ${when(witness, space)}`}
      </dd>
    </dl>
  );
}

/** How the reader would stand to the writer. */
function when({ source, sink }: WitnessView, space: DomainView | null): string {
  const [write, read] = [placeOf(space, source), placeOf(space, sink)];
  if (write === null || read === null) return "too early";
  return read === write ? `at once with A (both are ${read})` : `before A (${read} comes before ${write})`;
}

/** An instance's number in the picture. */
function placeOf(space: DomainView | null, instance: InstanceView): number | null {
  const statement = space?.statements.find((one) => one.statement === instance.statement);
  const point = statement?.points.findIndex((coordinates) =>
    statement.dims.every((dim, place) => coordinates[place] === instance.coordinates[dim]),
  );
  const order = point === undefined ? undefined : statement?.order?.[point];
  return order === undefined ? null : order + 1;
}

function Steps(props: {
  title: string;
  verb: string;
  steps: readonly StepView[];
  open: (step: StepView) => void;
}): JSX.Element | null {
  const { title, verb, steps, open } = props;
  if (!steps.length) return null;
  return (
    <>
      <h4>{title}</h4>
      <ul className="wbk-step-buttons">
        {steps.map((step) => (
          <li key={step.source}>
            <button
              className="wbk-button wbk-step-button"
              type="button"
              title={step.source}
              onClick={() => open(step)}
            >
              {verb}: <code>{step.text}</code>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
