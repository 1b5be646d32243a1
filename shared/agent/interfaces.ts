/**
 * What the conversation engine needs from language models. `shared/models` implements it with rules or with a model;
 * the engine does not know which.
 */

/** Values extracted by a conversation; JSON. */
export type Variables = Record<string, unknown>;

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** An option to leave the current node: an edge, or a global node, which can be reached from everywhere. */
export interface Option {
  /** The author's words for when this option applies. */
  readonly label: string;
  readonly description: string;
  /** Id of the node it leads to. */
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
  /** The conversation so far, oldest first; the last turn is the latest input. */
  readonly history: readonly Turn[];
  readonly variables: Variables;
  /** The node's own model (contract 11.1 `modelName`); null or absent: the conversation's. */
  readonly model?: string | null;
}

export interface EdgeQuestion extends Situation {
  /** The person's words. */
  readonly text: string;
  /** May be empty: then only a reply is needed. */
  readonly options: readonly Option[];
  /** Whether there is an edge for input that matches no option. */
  readonly otherwise: boolean;
}

export interface EdgeAnswer {
  /** Index into `options`, or null to stay in the node. */
  readonly choice: number | null;
  /** One line for the log. */
  readonly reason: string;
  /** Set when the person needs a reply before the conversation can continue (choice is null then). */
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
  /** Both with quoted variables (`fillQuoted`), for models that must distinguish the author's words from others. */
  readonly quoted?: { readonly prompt: string; readonly globalPrompt: string };
  /** Text to answer from, if the node has one. */
  readonly knowledge: string | null;
  readonly temperature: number | null;
}

interface Speech {
  readonly text: string;
  /** For the log: how the text was generated, if that matters to a reader. */
  readonly note?: string;
}

interface ConditionQuestion extends Situation {
  /** With its variables filled in. */
  readonly condition: string;
  /** As the author wrote it; default: `condition`. */
  readonly template?: string;
  readonly wanted: readonly VariableWanted[];
}

/** Identifies the implementation in results (contract 6.4 `evaluator`). */
export interface Evaluator {
  /** `embedded` for built-in rules, else the protocol of the model's server */
  readonly provider: string;
  /** `rules`, or the model's name on its server */
  readonly model: string;
  /** Whether the same questions always get the same answers. */
  readonly deterministic: boolean;
}

/** Rejects only when the model cannot be reached or gives an unusable answer. */
export interface Understanding {
  readonly evaluator: Evaluator;
  chooseEdge(question: EdgeQuestion): Promise<EdgeAnswer>;
  /** The variables found in `text`; others are absent. */
  extract(question: ExtractQuestion): Promise<Variables>;
  generate(question: SpeechQuestion): Promise<Speech>;
  /** Whether the node may be left. */
  conditionHolds(question: ConditionQuestion): Promise<{ readonly holds: boolean; readonly reason: string }>;
}

/** An author's tool as described to a model (contract 8.1). */
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
  /** The tool's result for the model, JSON. */
  readonly data: unknown;
  /** One sentence for the log and the model; null when `ok`. */
  readonly error: string | null;
  /** Variables from the result (`response_data`). */
  readonly variables: Variables;
}

/** The tools of one conversation. */
export interface ToolRunner {
  list(): readonly ToolSpec[];
  /**
   * Runs a tool. Errors (input that violates the schema, a failed target) are part of the result; rejects only when
   * `signal` is aborted.
   * @param variables current variables for templates
   */
  run(name: string, input: unknown, signal: AbortSignal, variables: Variables): Promise<ToolResult>;
  /** What the `response_data` of a tool finds in a result that the tool did not give itself, such as that of a mock. */
  learned?(name: string, data: unknown, signal: AbortSignal): Promise<Variables>;
}
