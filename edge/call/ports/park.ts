/** Orders to park a call. */
export interface ParkOrder {
  /** Name of the place, as the API checks it. */
  readonly slot: string;
  readonly timeoutMs: number;
  /** What happens when nobody retrieves the call in time: it returns to its agent, if it still has one, or ends. */
  readonly atEnd: 'agent' | 'end';
}
