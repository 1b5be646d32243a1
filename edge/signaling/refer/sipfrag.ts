/** The body of a NOTIFY about a REFER: a status line as message/sipfrag (RFC 3515 section 2.4.5, RFC 3420). Pure. */

export const sipfragType = 'message/sipfrag;version=2.0';

export interface StatusLine {
  /** 100 to 699 */
  readonly status: number;
  readonly reason: string;
}

export function sipfrag({ status, reason }: StatusLine): string {
  return `SIP/2.0 ${status} ${reason.replace(/[\r\n]+/g, ' ')}\r\n`;
}

/** The status line at the start of a body; null when there is none. Line ends may be bare. */
export function statusLineOf(body: string | undefined): StatusLine | null {
  const match = /^\s*SIP\/2\.0[ \t]+([1-6]\d\d)(?:[ \t]+([^\r\n]*))?(?:\r|\n|$)/i.exec(body ?? '');
  return match ? { status: Number(match[1]), reason: (match[2] ?? '').trim() } : null;
}
