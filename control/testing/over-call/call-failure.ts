/** A run's call could not be placed, or was cut off: there is no result about the agent. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
}
