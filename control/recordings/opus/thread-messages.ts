/** Between control and the thread that encodes recordings. */

/** Any number of `push`, then `end`; `drop` in the place of what would follow. */
export type ToOpusThread =
  | { readonly type: 'push'; readonly stream: number; readonly pcm: Int16Array<ArrayBuffer> }
  | { readonly type: 'end'; readonly stream: number }
  | { readonly type: 'drop'; readonly stream: number };

/** Answers `push` and `end`. */
export interface FromOpusThread {
  readonly stream: number;
  readonly result:
    | { readonly ogg: Uint8Array<ArrayBuffer> }
    /** The stream is over. */
    | { readonly error: string };
}
