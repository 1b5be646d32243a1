/** A part of the library that its types omit. */
import 'ws';

declare module 'ws' {
  export const Sender: {
    /** A frame as the library writes it (RFC 6455 section 5.2): head and payload. */
    frame(
      payload: Buffer,
      options: {
        readonly opcode: number;
        readonly fin: boolean;
        readonly mask: boolean;
        readonly readOnly: boolean;
        readonly rsv1: boolean;
      },
    ): Buffer[];
  };
}
