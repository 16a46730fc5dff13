// The details of the selected statement: equation, sets and relations as text, line, neighbours.

import { useLineInNotebook, usePart, useSelection, useStore, useWorkbench } from "../../model/hooks";
import { isInside } from "../../model/scopes";
import type { Path } from "../../model/selection";
import { Waiting } from "../../waiting";
import type { Edge, LineView, Node, Snapshot } from "../../protocol";
import { DetailValue } from "../instances/detail-value";
import { Kernel } from "./kernel";

const KINDS: Readonly<Record<Node["kind"], string>> = {
  operation: "operation",
  contraction: "contraction",
  reduction: "reduction",
  random: "random draw",
  recurrence: "piece of a recurrence",
  update: "update (writes the next instance)",
  external: "call of an object outside of the program",
};

export function Details(): JSX.Element {
  const loaded = usePart("snapshot", {});
  const { statements, scope } = useSelection();
  const snapshot = loaded.value;
  if (!snapshot) return <Waiting loaded={loaded} what="the statements" />;
  const node = snapshot.nodes.find((one) => one.id === statements[0]);
  if (node) return <Statement snapshot={snapshot} node={node} />;
  if (scope) return <Scope snapshot={snapshot} path={scope} />;
  return <Overview snapshot={snapshot} />;
}

function Overview({ snapshot }: { snapshot: Snapshot }): JSX.Element {
  const { sizes } = useWorkbench();
  return (
    <div className="wbk-detail">
      <p className="wbk-hint">Click a box to see its equation, its domain and what it reads.</p>
      {snapshot.description && <p className="wbk-description">{snapshot.description}</p>}
      <Field name="Sizes">
        <Lines
          texts={sizes.map((size) =>
            size.derived === null
              ? `${size.name} = ${size.default}`
              : `${size.name} = ${size.derived} = ${size.default}`,
          )}
        />
      </Field>
      <Field name="Dimensions">
        <Lines texts={snapshot.dims.map((dim) => `0 <= ${dim.name} < ${dim.size}`)} />
      </Field>
    </div>
  );
}

function Statement({ snapshot, node }: { snapshot: Snapshot; node: Node }): JSX.Element {
  const store = useStore();
  const facts = [KINDS[node.kind], node.dtype, node.shape === "()" ? "scalar" : node.shape].join(" · ");
  return (
    <div className="wbk-detail">
      <h3 className="wbk-name">{node.title}</h3>
      <p className="wbk-facts">{[...node.scope.slice(-3), facts].join(" › ")}</p>
      {node.outputs.length > 0 && <p className="wbk-facts">output: {node.outputs.join(", ")}</p>}
      <Field name="Equation">
        <Lines texts={[node.equation]} />
      </Field>
      <Field name="Domain">
        <Lines texts={[node.domain]} />
      </Field>
      {node.reduction !== null && (
        <Field name="Reduction points">
          <Lines texts={[node.reduction]} />
        </Field>
      )}
      <Field name="Writes">
        <Lines texts={[node.write.relation]} />
      </Field>
      <Field name="Reads">
        <Lines texts={node.reads.map((access) => access.relation)} />
      </Field>
      <Field name="Storage">
        <Lines texts={[node.storage]} />
      </Field>
      <Field name="Kernel">
        <Kernel statement={node.id} />
      </Field>
      <Field name="Schedule">
        <button className="wbk-button" type="button" onClick={() => store.select({ pane: "play" })}>
          Play it at small sizes
        </button>
      </Field>
      <Field name="Value of an instance">
        <DetailValue snapshot={snapshot} node={node} />
      </Field>
      {node.line && <SourceLine line={node.line} />}
      <Neighbours
        name="Comes from"
        edges={snapshot.edges.filter((edge) => edge.target === node.id)}
        end={(edge) => edge.source}
        snapshot={snapshot}
      />
      <Neighbours
        name="Goes to"
        edges={snapshot.edges.filter((edge) => edge.source === node.id)}
        end={(edge) => edge.target}
        snapshot={snapshot}
      />
    </div>
  );
}

function SourceLine({ line }: { line: LineView }): JSX.Element {
  const show = useLineInNotebook(line);
  return (
    <Field name={`Source line (${line.place})`}>
      <Lines texts={[line.text.trim()]} />
      {show && (
        <button className="wbk-button wbk-link" type="button" onClick={show}>
          Show in the notebook
        </button>
      )}
    </Field>
  );
}

function Scope({ snapshot, path }: { snapshot: Snapshot; path: Path }): JSX.Element {
  const inside = snapshot.nodes.filter((node) => isInside(node.scope, path));
  return (
    <div className="wbk-detail">
      <h3 className="wbk-name">{path.join(" › ")}</h3>
      <p className="wbk-facts">closed scope · {inside.length} statements</p>
      <Field name="Equations">
        <Lines texts={inside.slice(0, 40).map((node) => node.equation)} />
      </Field>
      {inside.length > 40 && <p className="wbk-facts">and {inside.length - 40} more</p>}
    </div>
  );
}

function Neighbours(props: {
  name: string;
  edges: readonly Edge[];
  end: (edge: Edge) => string;
  snapshot: Snapshot;
}): JSX.Element | null {
  const store = useStore();
  const { name, edges, end, snapshot } = props;
  if (!edges.length) return null;
  const titles = new Map(snapshot.nodes.map((node) => [node.id, node.title]));
  return (
    <Field name={name}>
      <ul className="wbk-neighbours">
        {edges.map((edge, position) => (
          <li key={position}>
            <button
              className="wbk-button wbk-link"
              type="button"
              onClick={() => store.select({ statements: [end(edge)], scope: null, instance: null })}
            >
              {titles.get(end(edge)) ?? end(edge)}
            </button>
            {edge.label ? ` at ${edge.label}` : ""}
            {edge.carried && <span className="wbk-carried"> carried by a loop</span>}
            <code className="wbk-relation">{edge.relation}</code>
          </li>
        ))}
      </ul>
    </Field>
  );
}

export function Field({ name, children }: { name: string; children: React.ReactNode }): JSX.Element {
  return (
    <>
      <h4>{name}</h4>
      {children}
    </>
  );
}

export function Lines({ texts }: { texts: readonly string[] }): JSX.Element {
  return <pre className="wbk-code">{texts.length ? texts.join("\n") : "nothing"}</pre>;
}
