// A transform's JSON Schema as a form wants it: what may be null is left out instead, names have suggestions.

import type { RJSFSchema, UiSchema } from "@rjsf/utils";
import type { Snapshot, TransformView } from "../protocol";
import type { StepJson } from "./steps";

export type Value = Readonly<Record<string, unknown>>;

interface Given {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Given[];
  readonly items?: Given;
  readonly prefixItems?: readonly Given[];
  readonly default?: unknown;
  readonly names?: string;
  readonly known?: readonly string[];
}

export interface FormOf {
  readonly schema: RJSFSchema;
  readonly ui: UiSchema;
}

/** What names an argument may hold, by what they are names of. */
export type Suggestions = Readonly<Record<string, readonly string[]>>;

export function suggestionsOf(snapshot: Snapshot | null): Suggestions {
  const nodes = snapshot?.nodes ?? [];
  return {
    statement: nodes.map((node) => node.id),
    array: [...new Set(nodes.map((node) => node.array))],
    dim: snapshot?.dims.map((dim) => dim.name) ?? [],
  };
}

export function formOf(transform: TransformView, suggestions: Suggestions): FormOf {
  const given = transform.schema as { properties: Readonly<Record<string, Given>>; required: readonly string[] };
  const properties: Record<string, RJSFSchema> = {};
  const ui: UiSchema = { "ui:submitButtonOptions": { norender: true } };
  for (const [name, property] of Object.entries(given.properties)) {
    const { field, schema } = fieldOf(property);
    properties[name] = { ...schema, title: name.replaceAll("_", " ") };
    const known = property.known ?? suggestions[property.names ?? ""] ?? [];
    ui[name] = {
      ...(field && { "ui:field": field }),
      "ui:options": { known: [...known], optional: isOptional(property), names: property.names ?? "" },
    };
  }
  const required = given.required.filter((name) => name in properties);
  return { schema: { type: "object", properties, required: [...required], additionalProperties: false }, ui };
}

function isOptional(property: Given): boolean {
  return property.anyOf?.some((one) => one.type === "null") ?? false;
}

function fieldOf(property: Given): { field: string | null; schema: RJSFSchema } {
  const alternatives = property.anyOf?.filter((one) => one.type !== "null") ?? [property];
  const one = alternatives[0] ?? property;
  const preset = property.default === undefined || property.default === null ? {} : { default: property.default };
  if (one.type === "array" && one.items?.prefixItems) return { field: "pairs", schema: { type: "array", items: {} } };
  if (one.type === "array") return { field: "names", schema: { type: "array", items: { type: "string" } } };
  if (one.enum) return { field: null, schema: { enum: [...one.enum], ...preset } as RJSFSchema };
  if (one.type === "string") return { field: "name", schema: { type: "string", minLength: 1, ...preset } as RJSFSchema };
  return { field: null, schema: { type: one.type, ...preset } as RJSFSchema };
}

/** What the form starts with: the step's arguments, else what the selection suggests. */
export function startOf(transform: TransformView, step: StepJson | null, statements: readonly string[]): Value {
  if (step?.["transform"] === transform.name) return step["arguments"] as Value;
  const properties = transform.schema["properties"] as Readonly<Record<string, Given>>;
  const required = transform.schema["required"] as readonly string[];
  const first = statements[0];
  const start: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (property.names === "statement" && name === "statements") start[name] = [...statements];
    else if (property.names === "statement" && name === "statement" && first && required.includes(name)) start[name] = first;
  }
  return start;
}

/** The step that the form describes: what is empty and may be null is null. */
export function stepFrom(transform: TransformView, value: Value): StepJson {
  const properties = transform.schema["properties"] as Readonly<Record<string, Given>>;
  const given: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const entered = value[name];
    const empty = entered === undefined || entered === "" || (Array.isArray(entered) && !entered.length);
    if (!empty) given[name] = entered;
    else if (isOptional(property)) given[name] = null;
    else if (Array.isArray(entered)) given[name] = entered;
  }
  return { transform: transform.name, arguments: given };
}
