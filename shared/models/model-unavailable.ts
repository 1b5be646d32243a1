export type ModelFailure =
  /** no response, or no further part of it, in time */
  | 'timeout'
  /** too many concurrent requests */
  | 'busy'
  /** the server cannot be reached, or the connection was lost */
  | 'network'
  /** the server answered with an error status */
  | 'refused'
  /** the response is unusable or too large */
  | 'nonsense';

/** A language model gave no usable answer. The message says which model, where, and why, without the key. */
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
