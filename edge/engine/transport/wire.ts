/** Common interface of a TLS socket and a WebSocket. */
export interface Wire {
  readonly protocol: 'tls' | 'wss';
  /** Octets passed to `write` that the operating system has not taken yet. */
  readonly queuedBytes: number;
  write(bytes: Buffer): void;
  /** Flushes and closes. */
  end(reason: string): void;
  /** Closes at once. */
  destroy(): void;
  /** Stops reading, so that TCP flow control stops the peer. */
  pause(): void;
  resume(): void;
}

export interface Endpoints {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
}
