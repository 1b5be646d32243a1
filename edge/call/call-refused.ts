/** A refusal with the SIP answer that it calls for. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
  readonly sipStatus: number;
  readonly warning: string | undefined;

  /**
   * @param sipStatus final SIP status (3xx to 6xx) for the peer
   * @param warning text of a `Warning: 399` header (RFC 3261 section 20.43), when the peer can learn from it
   */
  constructor(sipStatus: number, message: string, warning?: string) {
    super(message);
    this.sipStatus = sipStatus;
    this.warning = warning;
  }
}
