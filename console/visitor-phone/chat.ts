/** What the chat of a widget (control/widgets/embed) hands to its phone. */
import type { LineCredentials } from '../phone/line.ts';

/** Creates an element; its members are properties, and attributes when they have a hyphen or are `role`. */
export type Make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props?: Readonly<Record<string, unknown>>,
  ...children: readonly (Node | string)[]
) => HTMLElementTagNameMap[Tag];

export interface Chat {
  readonly make: Make;
  /** Attributes of the script element. */
  readonly given: Readonly<Record<string, string | undefined>>;
  /** All of the chat, in its shadow root. */
  readonly root: HTMLElement;
  /** The button that opens and closes it. */
  readonly launcher: HTMLElement;
  /** The messages. */
  readonly log: HTMLElement;
  /** Under the messages; the phone is put before it. */
  readonly status: HTMLElement;
  /** Announces new messages. */
  readonly spoken: HTMLElement;
  /** Where one goes on in writing. */
  readonly input: HTMLElement;
  /** @throws Refused; TypeError without an answer */
  readonly credentials: () => Promise<LineCredentials>;
}

/** The API refused a call. */
export interface Refused extends Error {
  /** Of docs/errors.md. */
  readonly code?: string;
  /** 403: the chat as a whole is refused on this page. */
  readonly status?: number;
}
