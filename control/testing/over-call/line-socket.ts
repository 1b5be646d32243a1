/** What a run needs of the edge's connection: of a WebSocket here, or of one that another replica has. */
import { WebSocket } from 'ws';

export interface LineSocket {
  readonly isClosed: boolean;
  /** Does nothing once it is closed. */
  send(text: string): void;
  close(code: number, reason: string): void;
  /** Frames that are no text are empty. */
  onText(receive: (text: string) => void): void;
  onClose(act: () => void): void;
}

export function lineSocket(socket: WebSocket): LineSocket {
  socket.on('error', () => socket.terminate());
  return {
    get isClosed() {
      return socket.readyState === WebSocket.CLOSED;
    },
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    close: (code, reason) => socket.close(code, reason),
    onText: (receive) => socket.on('message', (data, binary) => receive(binary ? '' : data.toString())),
    onClose: (act) => socket.on('close', act),
  };
}
