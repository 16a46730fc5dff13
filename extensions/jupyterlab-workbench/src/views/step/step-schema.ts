// The fields of a form, made from the JSON Schema of a transform's arguments, and the step that they describe.

import type { TransformView } from "../../protocol";
import type { StepJson } from "./steps";

interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Property[];
  readonly items?: Property;
  readonly prefixItems?: readonly Property[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly names?: string;
  readonly known?: string;
}

export type Kind = "name" | "names" | "number" | "pairs" | "choice";

/** A name with a number, such as a shift, as they were typed. */
export type Pair = readonly [string, string];

/** What was entered, as it was typed: numbers too. */
export type Entered = string | readonly string[] | readonly Pair[];

/** What was entered, by argument. */
export type Value = Readonly<Record<string, Entered>>;

export interface Field {
  readonly argument: string;
  readonly label: string;
  readonly kind: Kind;
  readonly required: boolean;
  /** It may be null. */
  readonly optional: boolean;
  readonly preset: Entered;
  /** What its names are names of, such as "statement"; "" where it holds none. */
  readonly names: string;
  /** The list of the program's names that it takes; "" where it holds none. */
  readonly known: string;
  readonly choices: readonly string[];
  /** Which numbers are expected. */
  readonly numbers: string;
}

export function fieldsOf(transform: TransformView): readonly Field[] {
  const schema = transform.schema as { properties: Readonly<Record<string, Property>>; required: readonly string[] };
  return Object.entries(schema.properties).map(([argument, property]) => {
    const alternatives = property.anyOf ?? [property];
    const type = alternatives.find((one) => one.type !== "null") ?? property;
    const kind = kindOf(type);
    return {
      argument,
      label: argument.replaceAll("_", " "),
      kind,
      required: schema.required.includes(argument),
      optional: alternatives.some((one) => one.type === "null"),
      preset: entered(kind, property.default),
      names: property.names ?? "",
      known: property.known ?? "",
      choices: type.enum ?? [],
      numbers: property.minimum === undefined ? "a whole number" : `a whole number of at least ${property.minimum}`,
    };
  });
}

function kindOf(type: Property): Kind {
  if (type.enum) return "choice";
  if (type.type === "array") return type.items?.prefixItems ? "pairs" : "names";
  return type.type === "integer" ? "number" : "name";
}

/** An argument as it would be typed. */
function entered(kind: Kind, argument: unknown): Entered {
  if (kind === "names") return (argument ?? []) as readonly string[];
  if (kind !== "pairs") return String(argument ?? "");
  return ((argument ?? []) as readonly (readonly [string, number])[]).map(([name, number]) => [name, String(number)]);
}

/** What the form starts with: the step's arguments, else what the selection suggests, else the defaults. */
export function startOf(transform: TransformView, step: StepJson | null, statements: readonly string[]): Value {
  const same = step?.["transform"] === transform.name;
  const before = (same ? step["arguments"] : {}) as Readonly<Record<string, unknown>>;
  const start = (field: Field): Entered => {
    if (field.argument in before) return entered(field.kind, before[field.argument]);
    if (same || field.names !== "statement" || !field.required) return field.preset;
    return field.kind === "names" ? statements : (statements[0] ?? "");
  };
  return Object.fromEntries(fieldsOf(transform).map((field) => [field.argument, start(field)]));
}

/** The step that the form describes: what is empty is null where it may be, else left out, but for a list that is not
 * required. What is no number stays text, for Python to refuse. */
export function stepFrom(transform: TransformView, value: Value): StepJson {
  const written: Record<string, unknown> = {};
  for (const { argument, kind, optional, required } of fieldsOf(transform)) {
    const typed = value[argument] ?? "";
    if (!typed.length && optional) written[argument] = null;
    else if (!typed.length && (required || typed === "")) continue;
    else if (kind === "number") written[argument] = numberOf(typed as string);
    else if (kind === "pairs") written[argument] = (typed as readonly Pair[]).map(([name, number]) => [name, numberOf(number)]);
    else written[argument] = typed;
  }
  return { transform: transform.name, arguments: written };
}

function numberOf(text: string): number | string {
  return /^\s*[+-]?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text;
}
