/** What is reported of a binding. */

/** State of a binding, for other components. */
export interface BindingState {
  readonly state: 'registering' | 'registered' | 'failed' | 'ended';
  /** When the binding ends unless it is refreshed, ms since the epoch; null without one. */
  readonly expiresAt: number | null;
  /** When the next attempt after a failure starts, ms since the epoch; null: none is pending. */
  readonly nextTryAt: number | null;
  /** Status of the registrar's last answer to a REGISTER. */
  readonly sipCode: number | null;
  /** One sentence; kept until the next success. With a binding: why it may not work. */
  readonly lastError: string | null;
}

/** News of an attempt without a binding. */
export const underWay = { state: 'registering', expiresAt: null, nextTryAt: null } as const;

/** Before the first attempt. */
export const untried: BindingState = { ...underWay, sipCode: null, lastError: null };
