// Written by `python -m workbench.session.protocol`. Do not edit.

export const VERSION = 3;

export type Kind = "operation" | "contraction" | "reduction" | "random" | "recurrence" | "update" | "external";

export interface ParameterView {
  readonly name: string;
  readonly default: number;
  readonly definition: string | null;
}

export interface DimView {
  readonly name: string;
  readonly size: string;
}

export interface AccessView {
  readonly array: string;
  readonly relation: string;
}

export interface LineView {
  readonly file: string;
  readonly number: number;
  readonly text: string;
}

export interface Node {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly short: string;
  readonly kind: Kind;
  readonly array: string;
  readonly scope: readonly string[];
  readonly equation: string;
  readonly domain: string;
  readonly reduction: string | null;
  readonly write: AccessView;
  readonly reads: readonly AccessView[];
  readonly line: LineView | null;
  readonly dtype: string;
  readonly shape: string;
  readonly outputs: readonly string[];
}

export interface Edge {
  readonly source: string;
  readonly target: string;
  readonly array: string;
  readonly label: string;
  readonly relation: string;
  readonly carried: boolean;
}

export interface Snapshot {
  readonly version: number;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly ParameterView[];
  readonly dims: readonly DimView[];
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly schedule: string;
  readonly equations: string;
  readonly closed: readonly (readonly string[])[];
}
