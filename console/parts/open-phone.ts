/** Whether the phone is shown, and the call that a button elsewhere asks of it. The rest of it is fetched when it is used. */
import { signal } from '@preact/signals';
import type { Operations } from '../../clients/typescript/src/generated.ts';

type SessionOrder = Operations['POST /v1/phone-sessions']['body'];

export interface PhoneOrder {
  /** Who is called, as the phone shows it. */
  readonly name: string;
  /** A thread of a widget: the agent is called as its visitor calls it, and what is said is in the thread. */
  readonly session: Omit<SessionOrder, 'caller'> | WidgetThread;
}

type WidgetThread = Operations['POST /v1/widget/{id}/threads/{thread_id}/call']['path'];

/** Joins a call instead of making one. */
export interface SuperviseOrder {
  readonly name: string;
  /** Id of the call. */
  readonly supervise: string;
}

export const phoneOpen = signal(false);
/** Taken by the phone once it is there. */
export const ordered = signal<PhoneOrder | SuperviseOrder | null>(null);

/** @param order is called at once; absent: the phone asks whom to call */
export function openPhone(order: PhoneOrder | SuperviseOrder | null = null): void {
  ordered.value = order;
  phoneOpen.value = true;
}
