import type { Headers, SipMessage, SipRequest, SipResponse } from './message.ts';

export function serializeRequest(request: SipRequest): Buffer {
  return write(`${request.method} ${request.uri} SIP/2.0\r\n`, request.headers, request.body);
}

export function serializeResponse(response: SipResponse): Buffer {
  return write(`SIP/2.0 ${response.status} ${response.reason}\r\n`, response.headers, response.body);
}

/**
 * Serializes a message, with headers in order and as spelled. Content-Length is recomputed from the body, at the
 * position of the first such line or at the end.
 */
export function serializeMessage(message: SipMessage): Buffer {
  return message.kind === 'request' ? serializeRequest(message) : serializeResponse(message);
}

function write(startLine: string, headers: Headers, body: Buffer): Buffer {
  const { text } = headers;
  const asRead = text !== null && headers.get('content-length') === `${body.length}`;
  const head = asRead ? `${startLine}${text}\r\n` : headOf(startLine, headers, body);
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 'latin1');
  if (body.length > 0) body.copy(bytes, head.length);
  return bytes;
}

function headOf(startLine: string, headers: Headers, body: Buffer): string {
  let head = startLine;
  let lengthWritten = false;
  for (let i = 0; i < headers.length; i++) {
    if (headers.keyAt(i) === 'content-length') {
      if (!lengthWritten) head += `${headers.nameAt(i)}: ${body.length}\r\n`;
      lengthWritten = true;
    } else {
      head += `${headers.nameAt(i)}: ${headers.valueAt(i)}\r\n`;
    }
  }
  return head + (lengthWritten ? '\r\n' : `Content-Length: ${body.length}\r\n\r\n`);
}
