// The compiled kernels, one at a time: its text, and beside it what a launch does.

import type { ReactNode } from "react";
import { useCurrent, usePart, useSelection, useStore } from "../../model/hooks";
import type { Language } from "../../model/selection";
import type { KernelView } from "../../protocol";
import { Waiting } from "../../waiting";
import { Same, Text } from "./text";

/** The backend whose kernels are in a language. */
export const BACKENDS: Readonly<Record<Language, string>> = { c: "native", cuda: "cuda" };

/** Returns the language of a backend's kernels, if it compiles any. */
export function languageOf(backend: string): Language | undefined {
  return (Object.keys(BACKENDS) as Language[]).find((language) => BACKENDS[language] === backend);
}

/** The most names of a list that is open at first. */
const FEW = 8;

/** `against` is the key of the variant to compare with; "" for none. */
export function Kernels({ language, against }: { language: Language; against: string }): JSX.Element {
  const { dtype, kernel: chosen, statements } = useSelection();
  const loaded = usePart("kernels", { backend: BACKENDS[language], dtype });
  if (!loaded.value) return <Waiting loaded={loaded} what="the kernels" />;
  const { kernels, remark } = loaded.value;
  const kernel = shownKernel(kernels, chosen, statements);
  if (!kernel) return <p className="wbk-hint">There is nothing to compute, so there is no kernel.</p>;
  return (
    <>
      <Choice kernels={kernels} shown={kernel} />
      {remark && <p className="wbk-hint">{remark}</p>}
      <div className="wbk-kernel-place">
        <KernelText language={language} name={kernel.name} against={against} />
        <Facts kernel={kernel} />
      </div>
    </>
  );
}

/** Returns the kernel to show: the chosen one, unless only others have the first selected statement. Of several it is
 * the longest, as points that are added up start in a small one of their own. */
export function shownKernel(
  kernels: readonly KernelView[],
  chosen: string,
  [selected]: readonly string[],
): KernelView | undefined {
  const holding = kernels.filter((kernel) => selected !== undefined && kernel.statements.includes(selected));
  const among = holding.length ? holding : kernels;
  return among.find((kernel) => kernel.name === chosen) ?? longest(among);
}

function longest(kernels: readonly KernelView[]): KernelView | undefined {
  return kernels.reduce<KernelView | undefined>((most, one) => (most && most.lines >= one.lines ? most : one), undefined);
}

/** Kernels of several statements come first: they are few, and most of the work. */
function Choice({ kernels, shown }: { kernels: readonly KernelView[]; shown: KernelView }): JSX.Element {
  const store = useStore();
  const { statements } = useSelection();
  const groups = [
    ["Of several statements", kernels.filter((kernel) => kernel.statements.length > 1)],
    ["Of one statement", kernels.filter((kernel) => kernel.statements.length <= 1)],
  ] as const;

  function choose(name: string): void {
    const kernel = kernels.find((one) => one.name === name);
    const kept = statements.filter((one) => kernel?.statements.includes(one));
    store.select({ kernel: name, statements: kept, instance: null, line: null });
  }

  return (
    <div className="wbk-bar">
      <label className="wbk-field">
        <span>Kernel</span>
        <select className="wbk-long" value={shown.name} onChange={(event) => choose(event.target.value)}>
          {groups
            .filter(([, members]) => members.length)
            .map(([title, members]) => (
              <optgroup key={title} label={title}>
                {members.map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </optgroup>
            ))}
        </select>
      </label>
      <p className="wbk-hint" title="Its place in the order of launches, and the lines of its text">
        {kernels.indexOf(shown) + 1} of {kernels.length} · {counted(shown.lines, "line")}
      </p>
    </div>
  );
}

function KernelText(props: { language: Language; name: string; against: string }): JSX.Element {
  const { language, name, against } = props;
  const { dtype } = useSelection();
  const current = useCurrent();
  const run = { backend: BACKENDS[language], dtype };
  const loaded = usePart("kernel", { ...run, name });
  const others = usePart("kernels", run, against || current.key);
  const there = others.value?.kernels.some((kernel) => kernel.name === name) ? against : "";
  const other = usePart("kernel", { ...run, name }, there || current.key);
  const text = loaded.value;
  const original = there ? other.value : null;
  return (
    <div className="wbk-kernel-text">
      {against && !others.value && <Waiting loaded={others} what="the other variant's kernels" />}
      {against && others.value && !there && (
        <p className="wbk-hint">The other variant has no kernel of this name.</p>
      )}
      {there && !other.value && <Waiting loaded={other} what="the other variant's kernel" />}
      {text && original && <Same text={text} original={original} />}
      {text ? (
        <Text text={text} original={original?.text ?? null} title={name} name={`${current.key} ${name}`} />
      ) : (
        <Waiting loaded={loaded} what="the kernel" />
      )}
    </div>
  );
}

/** What a launch does, as formulas in sizes. */
function Facts({ kernel }: { kernel: KernelView }): JSX.Element {
  return (
    <div className="wbk-kernel-facts" role="region" aria-label="A launch of the kernel" key={kernel.name}>
      <Amount name="Arithmetic" formula={kernel.flops} unit="FLOP a launch" says="A fused multiply-add counts as two" />
      <Amount name="Traffic" formula={kernel.bytes} unit="bytes a launch" says="Loaded and stored outside of the kernel" />
      <Amount name="Tile" formula={kernel.tile_bytes} unit="bytes" says="A running block's own arrays and scratch memory" />
      <Statements names={kernel.statements} />
      <Names title={(arrays) => `Loads ${arrays}`} names={kernel.loads} says="Arrays that are read in memory" />
      <Names title={(arrays) => `Stores ${arrays}`} names={kernel.stores} says="Arrays that are written in memory" />
      <Names
        title={(arrays) => `Keeps ${arrays} private`}
        names={kernel.private}
        says="Arrays of which every running block has a copy of its own"
      />
    </div>
  );
}

function Amount(props: { name: string; formula: string; unit: string; says: string }): JSX.Element {
  return (
    <section title={props.says}>
      <h4>{props.name}</h4>
      <p>
        <code>{props.formula}</code> {props.unit}
      </p>
    </section>
  );
}

function Names(props: {
  title: (arrays: string) => string;
  names: readonly string[];
  says: string;
}): JSX.Element {
  const { title, names, says } = props;
  return (
    <Listed title={title(counted(names.length, "array"))} count={names.length} says={says}>
      {names.map((one) => (
        <li key={one}>
          <code>{one}</code>
        </li>
      ))}
    </Listed>
  );
}

function Statements({ names }: { names: readonly string[] }): JSX.Element {
  const store = useStore();
  const { statements } = useSelection();
  const select = (chosen: readonly string[]): void =>
    store.select({ statements: chosen, scope: null, instance: null, line: null });
  return (
    <>
      <Listed title={`Computes ${counted(names.length, "statement")}`} count={names.length} says="A click selects one">
        {names.map((one) => (
          <li key={one}>
            <button
              className="wbk-button wbk-link"
              type="button"
              aria-pressed={statements.includes(one)}
              onClick={() => select([one])}
            >
              {one}
            </button>
          </li>
        ))}
      </Listed>
      {names.length > 1 && (
        <button className="wbk-button wbk-link wbk-kernel-all" type="button" onClick={() => select(names)}>
          Select all in the graph
        </button>
      )}
    </>
  );
}

/** A list under its title, closed where it is long. */
function Listed(props: { title: string; count: number; says: string; children: ReactNode }): JSX.Element {
  const { title, count, says, children } = props;
  if (!count) return <h4 title={says}>{title}</h4>;
  return (
    <details open={count <= FEW}>
      <summary title={says}>{title}</summary>
      <ul>{children}</ul>
    </details>
  );
}

/** Returns the count in words: "no arrays", "1 array", "1,200 arrays". */
function counted(count: number, what: string): string {
  return `${count ? count.toLocaleString("en-US") : "no"} ${what}${count === 1 ? "" : "s"}`;
}
