/** The call of a run could not be made, or broke off: nothing can be said of the agent. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
}
