/**
 * What the conversation engine asks of language models. `shared/models` implements it, by rules or by a
 * model; the engine never knows which.
 */

/** A value that a conversation has learned; JSON. */
export type Variables = Record<string, unknown>;

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** A way out of the present node: an edge, or a global node that can be reached from everywhere. */
export interface Option {
  /** Words of the author that say when this way is taken. */
  readonly label: string;
  readonly description: string;
  /** Where it leads. */
  readonly target: string;
  readonly global: boolean;
}

export interface VariableWanted {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly description: string;
}

interface Situation {
  readonly node: { readonly id: string; readonly name: string };
  /** The conversation so far, oldest first, with the latest input as its last turn. */
  readonly history: readonly Turn[];
  readonly variables: Variables;
  /** The node's own model (contract 11.1 `modelName`); null or absent: that of the conversation. */
  readonly model?: string | null;
}

export interface EdgeQuestion extends Situation {
  /** What the person said. */
  readonly text: string;
  /** May be empty: then only an answer is wanted. */
  readonly options: readonly Option[];
  /** Whether there is a way for what fits none of the options. */
  readonly otherwise: boolean;
}

export interface EdgeAnswer {
  /** Index into `options`, or null to stay in the node. */
  readonly choice: number | null;
  /** One line for the log: why. */
  readonly reason: string;
  /** Set when the person needs an answer before the conversation can go on (choice is null then). */
  readonly reply?: string;
}

interface ExtractQuestion extends Situation {
  readonly text: string;
  readonly wanted: readonly VariableWanted[];
}

interface SpeechQuestion extends Situation {
  /** The node's prompt with its variables filled in. */
  readonly prompt: string;
  readonly globalPrompt: string;
  /** Both with their variables quoted (`fillQuoted`), for a model that must tell the author's words from others'. */
  readonly quoted?: { readonly prompt: string; readonly globalPrompt: string };
  /** Text to answer from, when the node has one. */
  readonly knowledge: string | null;
  readonly temperature: number | null;
}

interface Speech {
  readonly text: string;
  /** For the log: what a reader must know about how the text came about. */
  readonly note?: string;
}

interface ConditionQuestion extends Situation {
  readonly condition: string;
  readonly wanted: readonly VariableWanted[];
}

/** Who understands and speaks, for results that must be honest about it (contract 6.4 `evaluator`). */
export interface Evaluator {
  /** `embedded` for the rules of this program, else the protocol of the model's server */
  readonly provider: string;
  /** `rules`, or the model as its server names it */
  readonly model: string;
  /** Whether the same questions always get the same answers. */
  readonly deterministic: boolean;
}

/** Rejects only when the model behind it cannot be reached or answers nonsense. */
export interface Understanding {
  readonly evaluator: Evaluator;
  chooseEdge(question: EdgeQuestion): Promise<EdgeAnswer>;
  /** The variables that `text` holds; those it does not hold are absent. */
  extract(question: ExtractQuestion): Promise<Variables>;
  generate(question: SpeechQuestion): Promise<Speech>;
  /** Whether the node may be left. */
  conditionHolds(question: ConditionQuestion): Promise<{ readonly holds: boolean; readonly reason: string }>;
}

/** A tool of the author's, as a model is told of it (contract 8.1). */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema with root type object */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Said while the tool runs; null: nothing. */
  readonly speech: string | null;
}

export interface ToolResult {
  readonly ok: boolean;
  /** What the tool gave back, JSON; a model is told of it. */
  readonly data: unknown;
  /** One sentence for the log and the model; null when `ok`. */
  readonly error: string | null;
  /** What the conversation learns by it (`response_data`). */
  readonly variables: Variables;
}

/** The tools of one conversation. */
export interface ToolRunner {
  list(): readonly ToolSpec[];
  /**
   * Runs a tool. What goes wrong with it (input that its schema refuses, a target that fails) is in the result;
   * rejects only when `signal` is aborted.
   * @param variables what templates can name now
   */
  run(name: string, input: unknown, signal: AbortSignal, variables: Variables): Promise<ToolResult>;
}
