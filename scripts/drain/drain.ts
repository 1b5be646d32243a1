/** Takes one edge out of service and waits until it has no calls (contract 14.4). */

export interface DrainOptions {
  readonly edgeId: string;
  /** Tells the control plane. */
  readonly order: (draining: boolean) => Promise<unknown>;
  /** The edge as the control plane shows it now. */
  readonly look: () => Promise<EdgeState>;
  /** False takes it back into service. */
  readonly draining: boolean;
  /** How long to wait for the last call, ms; 0 does not wait. */
  readonly waitMs: number;
  readonly pause: (ms: number) => Promise<unknown>;
  readonly say: (line: string) => void;
}

/** `calls` is null of an edge that is not connected: nobody knows. */
export interface DrainResult {
  readonly edge: string;
  readonly draining: boolean;
  readonly drained: boolean;
  readonly calls: number | null;
}

interface EdgeState {
  readonly connected: boolean;
  readonly takes_calls: boolean | null;
  readonly calls: number | null;
}

/** Edges report their calls every 10 s, and at once when the last one ends. */
const lookMs = 2000;

export async function drain(options: DrainOptions): Promise<DrainResult> {
  const { edgeId, draining, look, order, waitMs, pause, say } = options;
  await order(draining);
  const result = { edge: edgeId, draining };
  if (!draining) return { ...result, drained: false, calls: null };
  let said: number | null = null;
  for (let waited = 0; ; waited += lookMs) {
    const { connected, takes_calls, calls } = await look();
    const drained = connected && takes_calls === false && calls === 0;
    if (drained || !connected || waited >= waitMs) return { ...result, drained, calls };
    if (calls !== said && calls !== null) say(`${calls} in progress`);
    said = calls;
    await pause(lookMs);
  }
}
