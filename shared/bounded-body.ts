/** The body of an answer, of which no more is read than a client has use for. */

export interface BoundedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether there was more; the rest is not read and its connection ends. */
  readonly cut: boolean;
}

/** @param mostBytes kept at most @throws whatever ends the body early */
export async function boundedBody(response: Response, mostBytes: number): Promise<BoundedBody> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (reader && size <= mostBytes) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.length;
  }
  // Without effect on a body that has ended.
  await reader?.cancel();
  const bytes = new Uint8Array(Math.min(size, mostBytes));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk.subarray(0, mostBytes - at), at);
    at = Math.min(mostBytes, at + chunk.length);
  }
  return { bytes, cut: size > mostBytes };
}
