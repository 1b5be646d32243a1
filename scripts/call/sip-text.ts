/** A minimal parser for the SIP messages that the phone reads. */

export interface SipText {
  /** `SIP/2.0 200 OK`, or `BYE sip:... SIP/2.0` */
  readonly startLine: string;
  /** 0 for a request */
  readonly status: number;
  /** method of a request, '' for a response */
  readonly method: string;
  header(name: string): string | undefined;
  readonly body: string;
  readonly raw: string;
}

/** Splits a stream of text (latin1) into complete messages. */
export class SipReader {
  #buffer = '';

  /** @returns the messages completed by `chunk` */
  read(chunk: string): SipText[] {
    this.#buffer += chunk;
    const messages: SipText[] = [];
    for (;;) {
      this.#buffer = this.#buffer.replace(/^(\r\n)+/, '');
      const end = this.#buffer.indexOf('\r\n\r\n');
      if (end < 0) return messages;
      const head = this.#buffer.slice(0, end);
      const length = Number(/^(?:content-length|l)[ \t]*:[ \t]*(\d+)/im.exec(head)?.[1] ?? 0);
      if (this.#buffer.length < end + 4 + length) return messages;
      messages.push(parse(head, this.#buffer.slice(end + 4, end + 4 + length)));
      this.#buffer = this.#buffer.slice(end + 4 + length);
    }
  }
}

function parse(head: string, body: string): SipText {
  const [startLine = '', ...lines] = head.split('\r\n');
  const status = /^SIP\/2\.0 (\d{3})/.exec(startLine)?.[1];
  return {
    startLine,
    status: status ? Number(status) : 0,
    method: status ? '' : (startLine.split(' ')[0] ?? ''),
    header: (name) => {
      const line = lines.find((one) => one.toLowerCase().startsWith(`${name}:`));
      return line?.slice(name.length + 1).trim();
    },
    body,
    raw: `${head}\r\n\r\n${body}`,
  };
}
