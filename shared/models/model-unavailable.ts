export type ModelFailure =
  /** no answer, or no further part of it, in time */
  | 'timeout'
  /** too many requests of ours are under way */
  | 'busy'
  /** the server cannot be reached, or the connection broke */
  | 'network'
  /** the server answered with a status that is no success */
  | 'refused'
  /** the answer is not what was asked for, or too large */
  | 'nonsense';

/** A language model did not give a usable answer. The message says which model, where, and why; no key is in it. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable';
  readonly failure: ModelFailure;
  readonly model: string;
  /** origin of the server's URL */
  readonly server: string;

  constructor(failure: ModelFailure, model: string, server: string, why: string, options?: ErrorOptions) {
    super(`The language model ${model} at ${server} is unavailable: ${why}`, options);
    this.failure = failure;
    this.model = model;
    this.server = server;
  }
}
