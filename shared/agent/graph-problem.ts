/** One error in a graph; `path` is an RFC 6901 pointer into `{ nodes, edges }`. */
export interface GraphProblem {
  readonly path: string;
  readonly rule: GraphRule;
  readonly message: string;
  /** The forbidden host; only for target_not_allowed. */
  readonly host?: string;
}

export type GraphRule =
  | 'array'
  | 'object'
  | 'size'
  | 'node_id'
  | 'unique_node_id'
  | 'node_type'
  | 'one_start'
  | 'one_global_config'
  | 'global_label'
  | 'edge_node'
  | 'value'
  | 'extract_vars'
  | 'target_not_allowed';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export class ProblemList {
  readonly all: GraphProblem[] = [];

  add(path: string, rule: GraphRule, message: string): void {
    this.all.push({ path, rule, message });
  }

  addTarget(path: string, host: string, message: string): void {
    this.all.push({ path, rule: 'target_not_allowed', message, host });
  }
}
