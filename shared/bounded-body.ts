/** Reads a response body up to a size limit. */

export interface BoundedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether there was more; the rest is not read and the connection is closed. */
  readonly cut: boolean;
}

/** @param mostBytes maximum size @throws the error that ends the body early */
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
  // No effect on a body that has ended.
  await reader?.cancel();
  const bytes = new Uint8Array(Math.min(size, mostBytes));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk.subarray(0, mostBytes - at), at);
    at = Math.min(mostBytes, at + chunk.length);
  }
  return { bytes, cut: size > mostBytes };
}
