// Written by `python -m workbench.session.protocol`. Do not edit.

export const PROTOCOL = 22;

export const DOT = {
  "nameSize": 16,
  "chipSize": 15,
  "chipBeyond": 8,
  "routed": 150,
  "patient": 300,
  "head": [
    "graph [bgcolor=\"white\", rankdir=\"TB\", ranksep=\"0.38\", nodesep=\"0.22\", pad=\"0.1\", fontname=\"Courier\", fontsize=\"11\", fontcolor=\"#57606a\", labeljust=\"l\"]",
    "node [shape=\"box\", style=\"rounded,filled\", fontname=\"Courier\", fontsize=\"11\", height=\"0.3\", margin=\"0.1,0.05\", fontcolor=\"#1f2328\"]",
    "edge [fontname=\"Courier\", fontsize=\"9\", color=\"#8c959f\", fontcolor=\"#57606a\", arrowsize=\"0.6\"]"
  ],
  "large": "graph [splines=\"line\", newrank=\"true\", nslimit=\"LIMIT\", nslimit1=\"LIMIT\", mclimit=\"LIMIT\"]",
  "kinds": {
    "operation": "class=\"statement operation\", color=\"#8c959f\", fillcolor=\"#ffffff\"",
    "contraction": "class=\"statement contraction\", color=\"#0072b2\", fillcolor=\"#dcecfa\"",
    "reduction": "class=\"statement reduction\", color=\"#b87f00\", fillcolor=\"#fdf0d2\"",
    "random": "class=\"statement random\", color=\"#b0578a\", fillcolor=\"#f8e3ef\"",
    "recurrence": "class=\"statement recurrence\", color=\"#00805c\", fillcolor=\"#d9f2e9\"",
    "update": "class=\"statement update\", color=\"#c24e00\", fillcolor=\"#fce5d6\"",
    "external": "class=\"statement external\", color=\"#6a51a3\", fillcolor=\"#e8e4f6\", shape=\"component\", style=\"filled\""
  },
  "closed": "class=\"scope closed\", color=\"#57606a\", fillcolor=\"#eef0f3\", penwidth=\"1.5\"",
  "open": "class=\"scope\", style=\"rounded,filled\", color=\"#d0d7de\", fillcolor=\"#8c959f14\", margin=\"9\"",
  "flow": "class=\"flow\"",
  "carried": "class=\"carried\", style=\"dashed\", color=\"#b5420e\", fontcolor=\"#b5420e\", weight=\"0\"",
  "end": "</font>>"
} as const;

export const UNITS = {"seconds": [["d", 86400, 172800], ["h", 3600, 6000], ["min", 60, 100], ["s", 1, 1], ["ms", 0.001, 0.001], ["µs", 1e-06, 1e-06], ["ns", 1e-09, 0]], "thousands": [["T", 1000000000000, 1000000000000], ["G", 1000000000, 1000000000], ["M", 1000000, 1000000], ["k", 1000, 1000], ["", 1, 0]]} as const;

export const REFUSAL_TITLES = {
  "dependence": "A dependence would be violated",
  "capability": "This cannot be done",
  "no effect": "This would change nothing",
  "cost": "This would take too long to decide",
  "input": "This is no step of this program"
} as const;

export type Kind = "operation" | "contraction" | "reduction" | "random" | "recurrence" | "update" | "external";

export type Part = "snapshot" | "moves" | "price" | "why" | "reason" | "preview" | "cost" | "sweep" | "runs" | "memory" | "code" | "kernels" | "kernel" | "domain" | "value" | "play";

export type Outcome = "passed" | "failed" | "impossible" | "not run";

export interface BoxText {
  readonly first: string;
  readonly second: string;
  readonly short: string;
  readonly dot: string;
}

export interface ScopeText {
  readonly title: string;
  readonly closed: string;
  readonly open: string;
}

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
  readonly place: string;
}

export interface LoopView {
  readonly text: string;
  readonly dim: string;
  readonly mark: string;
}

export interface Node {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly box: BoxText;
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
  readonly loops: readonly number[];
  readonly storage: string;
  readonly kept: readonly string[];
}

export interface Snapshot {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly ParameterView[];
  readonly dims: readonly DimView[];
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly loops: readonly LoopView[];
  readonly schedule: string;
  readonly equations: string;
  readonly closed: readonly (readonly string[])[];
  readonly scopes: Readonly<Record<string, ScopeText>>;
}

export interface Edge {
  readonly source: string;
  readonly target: string;
  readonly array: string;
  readonly label: string;
  readonly mark: string;
  readonly relation: string;
  readonly carried: boolean;
}

export interface StepView {
  readonly transform: string;
  readonly text: string;
  readonly source: string;
  readonly json: Readonly<Record<string, unknown>>;
  readonly statements: readonly string[];
  readonly arrays: readonly string[];
  readonly dims: readonly string[];
  readonly equation_step: boolean;
}

export interface InstanceView {
  readonly statement: string;
  readonly coordinates: Readonly<Record<string, number>>;
  readonly text: string;
}

export interface WitnessView {
  readonly source: InstanceView;
  readonly sink: InstanceView;
  readonly array: string;
  readonly element: readonly number[];
  readonly element_text: string;
  readonly sizes: Readonly<Record<string, number>>;
}

export interface RefusalView {
  readonly kind: "dependence" | "capability" | "no effect" | "cost" | "input";
  readonly sentence: string;
  readonly line: LineView | null;
  readonly witness: WitnessView | null;
  readonly argument: string | null;
  readonly repairs: readonly StepView[];
  readonly instead: readonly StepView[];
}

export interface MoveView {
  readonly step: StepView;
  readonly refused: string | null;
  readonly notes: readonly string[];
}

export interface TransformView {
  readonly name: string;
  readonly summary: string;
  readonly documentation: string;
  readonly equation_step: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface MovesView {
  readonly transforms: readonly TransformView[];
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly moves: readonly MoveView[];
}

export interface PointsView {
  readonly statement: string;
  readonly title: string;
  readonly dims: readonly string[];
  readonly points: readonly (readonly number[])[];
  readonly order: readonly number[] | null;
  readonly array: string;
  readonly array_dims: readonly string[];
  readonly elements: readonly (readonly number[])[];
}

export interface ArrowView {
  readonly kind: "reads" | "copies" | "overwrites" | "adds";
  readonly source_statement: number;
  readonly source: number;
  readonly sink_statement: number;
  readonly sink: number;
  readonly array: string;
  readonly violated: boolean;
}

export interface DomainView {
  readonly sizes: Readonly<Record<string, number>>;
  readonly statements: readonly PointsView[];
  readonly arrows: readonly ArrowView[];
  readonly remark: string;
}

export interface WhyView {
  readonly step: StepView;
  readonly refusal: RefusalView;
  readonly sizes: Readonly<Record<string, number>>;
  readonly space: DomainView | null;
  readonly pair: WitnessView | null;
  readonly remark: string;
}

export interface OrderedView {
  readonly source: string;
  readonly sink: string;
  readonly array: string;
  readonly kind: "reads" | "overwrites";
  readonly by: readonly string[];
  readonly text: string;
}

export interface ConditionView {
  readonly text: string;
  readonly met: string;
  readonly statement: string;
}

export interface ReasonView {
  readonly step: StepView;
  readonly sentence: string;
  readonly dependences: readonly OrderedView[];
  readonly conditions: readonly ConditionView[];
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly sizes: Readonly<Record<string, number>>;
  readonly space: DomainView | null;
}

export interface SpanView {
  readonly statement: string;
  readonly first: number;
  readonly last: number;
}

export interface TextView {
  readonly name: string;
  readonly language: string;
  readonly text: string;
  readonly spans: readonly SpanView[];
  readonly start: number;
  readonly remark: string;
}

export interface CodeView {
  readonly equations: TextView;
  readonly schedule: TextView;
  readonly loops: TextView;
  readonly source: TextView;
}

export interface KernelView {
  readonly name: string;
  readonly statements: readonly string[];
  readonly lines: number;
  readonly loads: readonly string[];
  readonly stores: readonly string[];
  readonly private: readonly string[];
  readonly tile_bytes: string;
  readonly flops: string;
  readonly bytes: string;
}

export interface KernelsView {
  readonly kernels: readonly KernelView[];
  readonly remark: string;
}

export interface PreviewView {
  readonly step: StepView;
  readonly refusal: RefusalView | null;
  readonly notes: readonly string[];
  readonly snapshot: Snapshot | null;
  readonly code: CodeView | null;
}

export interface EffectView {
  readonly seconds: number;
  readonly peak_bytes: Readonly<Record<string, number>>;
}

export interface PriceView {
  readonly seconds: number;
  readonly peak_bytes: Readonly<Record<string, number>>;
  readonly arrays: Readonly<Record<string, number>>;
  readonly moved: Readonly<Record<string, string>>;
  readonly operations: number;
  readonly bytes: number;
  readonly launches: number;
  readonly parts: Readonly<Record<string, number>>;
}

export interface ShareView {
  readonly statement: string;
  readonly seconds: number;
  readonly operations: number;
  readonly bytes: number;
  readonly launches: number;
}

export interface FootprintView {
  readonly array: string;
  readonly bytes: number;
  readonly formula: string;
  readonly space: string;
  readonly storage: string;
}

export interface CostView {
  readonly sizes: Readonly<Record<string, number>>;
  readonly dtype: string;
  readonly backend: string;
  readonly threads: number;
  readonly seconds: number;
  readonly peak_bytes: Readonly<Record<string, number>>;
  readonly operations: number;
  readonly bytes: number;
  readonly launches: number;
  readonly shares: readonly ShareView[];
  readonly besides: ShareView;
  readonly arrays: readonly FootprintView[];
  readonly note: string;
  readonly assumed: string;
  readonly one_memory: boolean;
}

export interface SweepPoint {
  readonly value: number;
  readonly seconds: number;
  readonly peak_bytes: Readonly<Record<string, number>>;
}

export interface SweepView {
  readonly size: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly points: readonly SweepPoint[];
}

export interface RunsView {
  readonly run: number;
  readonly seconds: number;
  readonly too_slow: boolean;
  readonly affordable: Readonly<Record<string, number>> | null;
}

export interface MemoryPoint {
  readonly line: number;
  readonly text: string;
  readonly loops: readonly string[];
  readonly bytes: number;
  readonly born: readonly number[];
  readonly gone: readonly number[];
}

export interface BufferView {
  readonly name: string;
  readonly array: string | null;
  readonly bytes: number;
  readonly formula: string;
  readonly statements: readonly string[];
  readonly until: string;
  readonly last_reader: string | null;
}

export interface SpaceView {
  readonly space: string;
  readonly peak_bytes: number;
  readonly points: readonly MemoryPoint[];
}

export interface MemoryView {
  readonly sizes: Readonly<Record<string, number>>;
  readonly dtype: string;
  readonly backend: string;
  readonly threads: number;
  readonly beside: number;
  readonly lines: number;
  readonly peak_formula: string;
  readonly arrays: readonly BufferView[];
  readonly spaces: readonly SpaceView[];
}

export interface ElementView {
  readonly array: string;
  readonly coordinates: Readonly<Record<string, number>>;
  readonly text: string;
  readonly shape: readonly number[];
  readonly statement: string | null;
  readonly instance: Readonly<Record<string, number>>;
  readonly not_finite: string;
}

export interface ValueView {
  readonly of: ElementView;
  readonly equation: string;
  readonly line: LineView | null;
  readonly inputs: readonly ElementView[];
  readonly more_inputs: number;
  readonly cause: readonly ElementView[];
  readonly sizes: Readonly<Record<string, number>>;
  readonly seed: number;
  readonly note: string;
}

export interface PlayedStatement {
  readonly statement: string;
  readonly title: string;
  readonly origin: string;
  readonly dims: readonly string[];
  readonly lower: readonly number[];
  readonly lengths: readonly number[];
  readonly array: number;
  readonly points: readonly number[];
  readonly writes: readonly number[];
  readonly reads: readonly (readonly number[])[];
  readonly anywhere: readonly string[];
}

export interface PlayedArray {
  readonly name: string;
  readonly dims: readonly string[];
  readonly lower: readonly number[];
  readonly lengths: readonly number[];
  readonly first: number;
  readonly memory: number;
  readonly slots: readonly (readonly number[])[];
  readonly output: boolean;
}

export interface PlayedMemory {
  readonly arrays: readonly number[];
  readonly slots: number;
  readonly along: readonly string[];
  readonly lengths: readonly number[];
  readonly kept: string;
  readonly storage: string;
}

export interface PlayView {
  readonly sizes: Readonly<Record<string, number>>;
  readonly statements: readonly PlayedStatement[];
  readonly arrays: readonly PlayedArray[];
  readonly memories: readonly PlayedMemory[];
  readonly order: readonly number[];
  readonly at_once: readonly number[];
  readonly whole: boolean;
  readonly remark: string;
  readonly too_large: string;
  readonly smaller: Readonly<Record<string, number>> | null;
}

export interface SizeView {
  readonly name: string;
  readonly default: number;
  readonly derived: string | null;
}

export interface EndView {
  readonly dim: string;
  readonly size: string;
}

export interface VariantView {
  readonly key: string;
  readonly number: number;
  readonly parent: string | null;
  readonly name: string;
  readonly named: boolean;
  readonly step: StepView | null;
  readonly notes: readonly string[];
  readonly why: string;
  readonly recipe: string;
}

export interface CurveView {
  readonly name: string;
  readonly dim: string;
  readonly every: number;
  readonly values: readonly (number | null)[];
}

export interface DifferenceView {
  readonly since: string;
  readonly ratio: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly text: string;
}

export interface MeasurementView {
  readonly id: string;
  readonly group: string;
  readonly variant: string;
  readonly label: string;
  readonly backend: string;
  readonly threads: number;
  readonly device: string;
  readonly dtype: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly seed: number;
  readonly date: string;
  readonly recorded: string;
  readonly outcome: Outcome;
  readonly checked: string;
  readonly check: string;
  readonly check_report: string;
  readonly samples: readonly number[];
  readonly planned: number;
  readonly median: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly ratio: number | null;
  readonly ratio_low: number | null;
  readonly ratio_high: number | null;
  readonly difference: string;
  readonly last_steps: DifferenceView | null;
  readonly compile_seconds: number | null;
  readonly compiler_seconds: number | null;
  readonly peak_bytes: Readonly<Record<string, number>>;
  readonly process_peak_bytes: number | null;
  readonly predicted_seconds: number | null;
  readonly predicted_peak_bytes: Readonly<Record<string, number>>;
  readonly prediction_note: string;
  readonly too_slow: string;
  readonly pace: number | null;
  readonly stopped: string;
  readonly curves: readonly CurveView[];
}

export interface PeaksView {
  readonly flops_per_second: number;
  readonly nearest_bytes_per_second: number;
  readonly farthest_bytes_per_second: number;
}

export interface ProfileRowView {
  readonly name: string;
  readonly scope: string;
  readonly statements: readonly string[];
  readonly seconds: number;
  readonly calls: number;
  readonly flops: number;
  readonly bytes: number;
  readonly bytes_peak: number | null;
  readonly predicted: number | null;
  readonly approximate: boolean;
  readonly uncertain: boolean;
}

export interface LaneView {
  readonly name: string;
  readonly is_loop: boolean;
  readonly depth: number;
  readonly scope: string;
  readonly statements: readonly string[];
  readonly share: number;
  readonly spans: readonly number[];
}

export interface CourseView {
  readonly seconds: number;
  readonly tick: number;
  readonly whole: boolean;
  readonly lanes: readonly LaneView[];
  readonly held: readonly number[];
}

export interface ProfileView {
  readonly id: string;
  readonly variant: string;
  readonly label: string;
  readonly backend: string;
  readonly threads: number;
  readonly device: string;
  readonly dtype: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly seed: number;
  readonly date: string;
  readonly seconds: number;
  readonly untimed_seconds: number;
  readonly predicted_seconds: number | null;
  readonly summary: readonly string[];
  readonly rounds: number;
  readonly planned: number;
  readonly peaks: PeaksView | null;
  readonly course: CourseView | null;
  readonly scopes: readonly ProfileRowView[];
  readonly kernels: readonly ProfileRowView[];
  readonly statements: readonly ProfileRowView[];
}

export interface RunView {
  readonly id: string;
  readonly variant: string;
  readonly label: string;
  readonly backend: string;
  readonly threads: number | null;
  readonly dtype: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly seed: number;
  readonly date: string;
  readonly completed: number;
  readonly total: number;
  readonly counted: string;
  readonly seconds: number;
  readonly compile_seconds: number | null;
  readonly environment_steps: number;
  readonly peak_bytes: Readonly<Record<string, number>>;
  readonly lengths: Readonly<Record<string, number>>;
  readonly curves: readonly CurveView[];
  readonly failed: string;
}

export interface BackendView {
  readonly name: string;
  readonly reason: string;
}

export interface WaitingView {
  readonly text: string;
  readonly line: LineView | null;
}

export interface CycleView {
  readonly instances: readonly WaitingView[];
  readonly sizes: Readonly<Record<string, number>>;
}

export interface ErrorView {
  readonly sentence: string;
  readonly line: LineView | null;
  readonly trace: string;
  readonly cycle: CycleView | null;
  readonly arguments: Readonly<Record<string, string>>;
}

export interface UntracedView {
  readonly program: string;
  readonly place: string;
  readonly error: ErrorView;
}

export interface NotMadeView {
  readonly variant: string;
  readonly backend: string;
  readonly dtype: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly seed: number;
  readonly error: ErrorView;
  readonly too_long: boolean;
  readonly not_sent: boolean;
}

export interface ProgressView {
  readonly what: "measurement" | "run" | "profile" | "calibration" | "search";
  readonly stage: string;
  readonly done: number;
  readonly total: number;
  readonly variants: readonly string[];
  readonly group: string;
}

export interface ArgumentView {
  readonly name: string;
  readonly kind: "size" | "integer" | "number" | "boolean" | "text" | "other";
  readonly value: unknown;
  readonly default: unknown;
  readonly choices: readonly unknown[];
}

export interface State {
  readonly workbench: string;
  readonly revision: number;
  readonly name: string;
  readonly root: string;
  readonly current: string;
  readonly variants: readonly VariantView[];
  readonly sizes: readonly SizeView[];
  readonly ends: readonly EndView[];
  readonly measurements: readonly MeasurementView[];
  readonly runs: readonly RunView[];
  readonly result: string;
  readonly profiles: readonly ProfileView[];
  readonly backends: readonly BackendView[];
  readonly backend: string;
  readonly arguments: readonly ArgumentView[];
  readonly measuring: ProgressView | null;
  readonly unrun: NotMadeView | null;
  readonly unprofiled: NotMadeView | null;
  readonly error: UntracedView | null;
  readonly recipe_error: ErrorView | null;
  readonly taken_over: string;
}

export interface Hello {
  readonly type: "hello";
  readonly protocol: number;
}

export interface Want {
  readonly type: "want";
  readonly id: number;
  readonly workbench: string;
  readonly part: Part;
  readonly variant: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Forget {
  readonly type: "forget";
  readonly id: number;
}

export interface Apply {
  readonly type: "apply";
  readonly id: number;
  readonly workbench: string;
  readonly variant: string;
  readonly step: Readonly<Record<string, unknown>>;
}

export interface Show {
  readonly type: "show";
  readonly id: number;
  readonly workbench: string;
  readonly variant: string;
}

export interface Rename {
  readonly type: "rename";
  readonly id: number;
  readonly workbench: string;
  readonly variant: string;
  readonly name: string;
}

export interface Remove {
  readonly type: "remove";
  readonly id: number;
  readonly workbench: string;
  readonly variant: string;
}

export interface Replay {
  readonly type: "replay";
  readonly id: number;
  readonly workbench: string;
  readonly variant: string;
  readonly onto: string;
  readonly only_last: boolean;
}

export interface Optimize {
  readonly type: "optimize";
  readonly id: number;
  readonly workbench: string;
  readonly variant: string;
  readonly objective: "time" | "memory";
  readonly capacity: number | null;
  readonly backend: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly lengths: Readonly<Record<string, unknown>>;
  readonly dtype: "float32" | "float64";
}

export interface Measure {
  readonly type: "measure";
  readonly id: number;
  readonly workbench: string;
  readonly variants: readonly string[];
  readonly backend: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly lengths: Readonly<Record<string, unknown>>;
  readonly seed: number;
  readonly dtype: "float32" | "float64";
  readonly repeats: number | null;
  readonly force: boolean;
}

export interface Run {
  readonly type: "run";
  readonly id: number;
  readonly workbench: string;
  readonly variant: string;
  readonly backend: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly seed: number;
  readonly dtype: "float32" | "float64";
  readonly here: boolean;
}

export interface Profile {
  readonly type: "profile";
  readonly id: number;
  readonly workbench: string;
  readonly variant: string;
  readonly backend: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly seed: number;
  readonly dtype: "float32" | "float64";
  readonly force: boolean;
  readonly here: boolean;
}

export interface Calibrate {
  readonly type: "calibrate";
  readonly id: number;
  readonly workbench: string;
  readonly backend: string;
}

export interface Cancel {
  readonly type: "cancel";
  readonly id: number;
  readonly workbench: string;
}

export interface Change {
  readonly type: "change";
  readonly id: number;
  readonly workbench: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Save {
  readonly type: "save";
  readonly id: number;
  readonly workbench: string;
  readonly format: "html" | "state";
}

export interface Load {
  readonly type: "load";
  readonly id: number;
  readonly workbench: string;
  readonly text: string;
  readonly show: boolean;
}

export interface Report {
  readonly type: "report";
  readonly id: number;
  readonly workbench: string;
  readonly variant: string;
  readonly before: string;
  readonly notes: string;
  readonly backend: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly lengths: Readonly<Record<string, unknown>>;
  readonly dtype: "float32" | "float64";
}

export interface Follow {
  readonly type: "follow";
  readonly id: number;
  readonly workbench: string;
  readonly steps: readonly (Readonly<Record<string, unknown>>)[];
}

export interface Welcome {
  readonly type: "welcome";
  readonly protocol: number;
  readonly release: string;
  readonly workbenches: readonly string[];
}

export interface StateMessage {
  readonly type: "state";
  readonly state: State;
  readonly open: boolean;
}

export interface Untraced {
  readonly type: "untraced";
  readonly programs: readonly UntracedView[];
}

export interface PredictedAnew {
  readonly type: "predicted-anew";
  readonly parts: readonly Part[];
}

export interface Answer {
  readonly type: "part";
  readonly id: number;
  readonly value: unknown;
  readonly done: boolean;
}

export interface Saved {
  readonly type: "saved";
  readonly id: number;
  readonly name: string;
  readonly text: string;
}

export interface Done {
  readonly type: "done";
  readonly id: number;
  readonly variant: string | null;
}

export interface Failed {
  readonly type: "failed";
  readonly id: number | null;
  readonly error: ErrorView;
}

export interface Running {
  readonly type: "running";
  readonly workbench: string;
  readonly variant: string;
  readonly shares: Readonly<Record<string, number>>;
  readonly now: readonly string[];
  readonly loops: readonly (readonly [string, number, number])[];
  readonly seconds: number;
  readonly over: boolean;
}

export interface SavedPart {
  readonly part: Part;
  readonly variant: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

export interface Capsule {
  readonly protocol: number;
  readonly release: string;
  readonly state: State;
  readonly parts: readonly SavedPart[];
}

export interface Packed {
  readonly protocol: number;
  readonly release: string;
  readonly workbench: string;
  readonly gzip: string;
}

export type Request = Hello | Want | Forget | Apply | Show | Rename | Remove | Replay | Optimize | Measure | Run | Profile | Calibrate | Cancel | Change | Save | Load | Report | Follow;

export type Message = Welcome | StateMessage | Untraced | PredictedAnew | Answer | Saved | Done | Failed | Running;
