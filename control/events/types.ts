/** What can happen in an organization: the types of events, and what they are about. */

/** Types of events (contract 17). A type's first word is its family; filters take both. */
export const eventTypes = [
  'call.begun',
  'call.ringing',
  'call.answered',
  'call.updated',
  'call.ended',
  'supervision.joined',
  'supervision.changed',
  'supervision.left',
  'transcript.line',
  'quality.sample',
  'trunk.health',
  'trunk.moved',
  'registration.changed',
  'alert.raised',
  'alert.resolved',
  'discovery.updated',
  'discovery.ended',
  'test_call.updated',
  'test_call.ended',
  'test_run.updated',
  'test_run.ended',
  'port.updated',
] as const;
export type EventType = (typeof eventTypes)[number];

/** Those that are stored nowhere (passing.ts). Only readers that name them get them. */
export const passingTypes: ReadonlySet<string> = new Set<EventType>(['quality.sample']);

/** What an event is about. A filter finds the event by each of them. */
export interface EventSubject {
  readonly call_id?: string;
  readonly number?: string;
  readonly trunk_id?: string;
  readonly alert_id?: string;
  readonly discovery_id?: string;
  readonly test_call_id?: string;
  readonly test_run_id?: string;
  readonly batch_id?: string;
  readonly port_id?: string;
}

/** Something that has happened, before it is stored. */
export interface Happening {
  readonly orgId: string;
  readonly type: EventType;
  /** ISO */
  readonly at: string;
  readonly subject: EventSubject;
  /** What JSON can hold: the subject as the API shows it, or what is new of it. */
  readonly data: object;
}
