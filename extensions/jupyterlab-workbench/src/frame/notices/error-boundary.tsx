// What stands where a part of the workbench could not be drawn: all else goes on.

import { Component, type ReactNode } from "react";
import { useCurrent } from "../../model/hooks";

interface Props {
  /** What is drawn, as the start of a sentence: "The graph". */
  readonly what: string;
  /** Identifies the data: with other data it is tried anew. */
  readonly of: string;
  readonly children: ReactNode;
}

interface State {
  readonly error: Error | null;
  readonly of: string;
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, of: this.props.of };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps({ of }: Props, state: State): State | null {
    return of === state.of ? null : { error: null, of };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="wbk-problem" role="alert">
        <p>{this.props.what} could not be drawn, which is an error of the workbench:</p>
        <pre className="wbk-code">{error.message}</pre>
        <button className="wbk-button" type="button" onClick={() => this.setState({ error: null })}>
          Try again
        </button>
      </div>
    );
  }
}

/** The same for what is drawn of the shown variant. */
export function OfVariant({ what, children }: { what: string; children: ReactNode }): JSX.Element {
  const { key } = useCurrent();
  return (
    <ErrorBoundary what={what} of={key}>
      {children}
    </ErrorBoundary>
  );
}
