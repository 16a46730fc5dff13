// A transform's JSON Schema as a form wants it: what may be null is left out instead, known names are offered.

import type { RJSFSchema, UiSchema } from "@rjsf/utils";
import type { TransformView } from "../../protocol";
import type { StepJson } from "./steps";

export type Value = Readonly<Record<string, unknown>>;

interface Given {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Given[];
  readonly items?: Given;
  readonly prefixItems?: readonly Given[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly names?: string;
  readonly known?: readonly string[];
}

export interface FormOf {
  readonly schema: RJSFSchema;
  readonly ui: UiSchema;
}

export function formOf(transform: TransformView): FormOf {
  const given = transform.schema as { properties: Readonly<Record<string, Given>>; required: readonly string[] };
  const properties: Record<string, RJSFSchema> = {};
  const ui: UiSchema = { "ui:submitButtonOptions": { norender: true } };
  for (const [name, property] of Object.entries(given.properties)) {
    const { field, schema } = fieldOf(property);
    properties[name] = { ...schema, title: name.replaceAll("_", " ") };
    ui[name] = {
      ...(field && { "ui:field": field }),
      "ui:options": {
        known: [...(property.known ?? [])],
        optional: isOptional(property),
        names: property.names ?? "",
        number: numberText(property),
      },
    };
  }
  const required = given.required.filter((name) => name in properties);
  return { schema: { type: "object", properties, required: [...required], additionalProperties: false }, ui };
}

function numberText({ minimum }: Given): string {
  return minimum === undefined ? "a whole number" : `a whole number of at least ${minimum}`;
}

/** What is wrong with what was entered, by argument: what it is and what was expected. */
export function problems(transform: TransformView, value: Value): ReadonlyMap<string, string> {
  const properties = transform.schema["properties"] as Readonly<Record<string, Given>>;
  const required = transform.schema["required"] as readonly string[];
  const found = new Map<string, string>();
  for (const [name, property] of Object.entries(properties)) {
    const problem = problemOf(property, value[name], required.includes(name), property.known ?? []);
    if (problem) found.set(name, problem);
  }
  return found;
}

function problemOf(property: Given, entered: unknown, required: boolean, known: readonly string[]): string {
  const { field } = fieldOf(property);
  const oneOf = (near?: unknown): string => {
    if (!known.length) return `the name of ${article(property.names)}`;
    if (known.length <= FEW) return `one of ${known.join(", ")}`;
    const such = near === undefined ? [] : nearest(String(near), known);
    return `one of the ${known.length} ${property.names ?? "name"}s${such.length ? `, such as ${such.join(", ")}` : ""}`;
  };
  if (isEmpty(entered)) return required ? `is needed; expected ${field === "number" ? numberText(property) : oneOf()}` : "";
  const unknown = (name: unknown): boolean => known.length > 0 && !known.includes(String(name));
  if (field === "number") {
    const fits = Number.isInteger(entered) && Number(entered) >= (property.minimum ?? -Infinity);
    return fits ? "" : `is ${String(entered)}; expected ${numberText(property)}`;
  }
  if (field === "name") return unknown(entered) ? `is ${String(entered)}; expected ${oneOf(entered)}` : "";
  if (field === "names") {
    const odd = (entered as readonly unknown[]).find(unknown);
    return odd === undefined ? "" : `has ${String(odd)}; expected ${oneOf(odd)}`;
  }
  if (field !== "pairs") return "";
  for (const [name, number] of entered as readonly (readonly [unknown, unknown])[]) {
    if (unknown(name)) return `has ${name === "" ? "no name" : String(name)}; expected ${oneOf(name || undefined)}`;
    if (!Number.isInteger(number)) return `has ${String(number)} for ${String(name)}; expected ${numberText(property)}`;
  }
  return "";
}

/** Up to three names that have most pairs of letters in common with what was typed. */
function nearest(typed: string, known: readonly string[]): readonly string[] {
  const pairs = (text: string): ReadonlySet<string> =>
    new Set([...text.toLowerCase()].map((letter, place, all) => letter + (all[place + 1] ?? "")));
  const wanted = pairs(typed);
  const likeness = (name: string): number => {
    const own = pairs(name);
    return [...own].filter((pair) => wanted.has(pair)).length / (own.size + wanted.size);
  };
  const found = known.map((name) => ({ name, like: likeness(name) })).filter(({ like }) => like > 0);
  return found.sort((one, other) => other.like - one.like).slice(0, 3).map(({ name }) => name);
}

const article = (names = "name"): string => (/^[aeiou]/.test(names) ? `an ${names}` : `a ${names}`);

const FEW = 6;

/** So many names as can be read at a glance. */
export function someOf(names: readonly string[]): string {
  return names.slice(0, FEW).join(", ") + (names.length > FEW ? ", …" : "");
}

function isEmpty(entered: unknown): boolean {
  return entered === undefined || entered === null || entered === "" || (Array.isArray(entered) && !entered.length);
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
  if (one.type === "string") return { field: "name", schema: { type: "string", ...preset } as RJSFSchema };
  if (one.type === "integer") return { field: "number", schema: { ...preset } as RJSFSchema };
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
    if (property.names !== "statement" || !required.includes(name)) continue;
    if (name === "statements") start[name] = [...statements];
    else if (name === "statement" && first) start[name] = first;
  }
  return start;
}

/** The step that the form describes: what is empty and may be null is null. */
export function stepFrom(transform: TransformView, value: Value): StepJson {
  const properties = transform.schema["properties"] as Readonly<Record<string, Given>>;
  const given: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const entered = value[name];
    if (!isEmpty(entered)) given[name] = entered;
    else if (isOptional(property)) given[name] = null;
    else if (Array.isArray(entered)) given[name] = entered;
  }
  return { transform: transform.name, arguments: given };
}
