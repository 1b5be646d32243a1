/** The text of mails about port requests. Pure. */
import { counted } from '#shared/counted.ts';
import type { PortStatus } from '../db/index.ts';
import { isOpen, type NumberState } from './state-rules.ts';

export interface PortMail {
  readonly subject: string;
  readonly text: string;
}

export interface LinkFacts {
  readonly requestId: string;
  readonly representative: string;
  readonly organization: string;
  readonly numbers: readonly string[];
  readonly url: string;
  /** ISO */
  readonly expiresAt: string;
}

/** To the authorized representative: the signing link. */
export function signatureMail(facts: LinkFacts): PortMail {
  return {
    subject: `Please sign: letter of authorization for ${count(facts.numbers.length)}`,
    text: lines([
      `Dear ${oneLine(facts.representative)},`,
      '',
      `${oneLine(facts.organization)} asked to port these telephone numbers, and named you as its authorized representative:`,
      '',
      ...facts.numbers.map((number) => `  ${number}`),
      '',
      'Please read and sign the letter of authorization here:',
      '',
      facts.url,
      '',
      `The link is valid until ${facts.expiresAt.slice(0, 10)}. Anyone with the link can sign, so do not forward it.`,
      'If you did not expect this message, do nothing; without a signature nothing is ported.',
      '',
      `Port request ${facts.requestId}`,
    ]),
  };
}

export interface ChangeFacts {
  readonly requestId: string;
  readonly organization: string;
  readonly from: PortStatus;
  readonly to: PortStatus;
  readonly reason: string | null;
  readonly numbers: readonly NumberState[];
  /** Why numbers failed or were canceled, by number. */
  readonly reasons: ReadonlyMap<string, string>;
  readonly focDate: string | null;
  readonly expected: { readonly earliest: string; readonly latest: string } | null;
}

const words: Readonly<Record<PortStatus, string>> = {
  waiting_for_signature: 'is waiting for a signature',
  submitted: 'is signed and submitted to the losing carrier',
  in_progress: 'is being processed by the losing carrier',
  completed: 'is completed; the ported numbers are active',
  canceled: 'is canceled',
  failed: 'has failed',
};

/** To `notification_emails`: the request's state has changed. */
export function changeMail(facts: ChangeFacts): PortMail {
  const { expected, focDate, numbers, reason, reasons } = facts;
  const mixed = mixedEnd(facts);
  return {
    subject: `Port of ${count(numbers.length)}: ${mixed ?? facts.to.replaceAll('_', ' ')}`,
    text: lines([
      `The port request of ${oneLine(facts.organization)} ${mixed === null ? words[facts.to] : `has ended: ${mixed}`}.`,
      ...(reason === null ? [] : ['', `Reason: ${oneLine(reason)}`]),
      '',
      ...numbers.map(({ number, status }) => {
        const why = reasons.get(number);
        const suffix = why === undefined || why === reason ? '' : `: ${oneLine(why)}`;
        return `  ${number.padEnd(16)} ${status.replaceAll('_', ' ')}${suffix}`;
      }),
      ...(focDate === null ? [] : ['', `Date confirmed by the losing carrier: ${focDate}`]),
      ...(expected === null || focDate !== null
        ? []
        : ['', `Expected completion: ${expected.earliest} to ${expected.latest}`]),
      '',
      `Port request ${facts.requestId}, before: ${facts.from.replaceAll('_', ' ')}`,
    ]),
  };
}

/** How the numbers of an ended request ended when they differ, such as `1 completed, 1 failed`; else null. */
function mixedEnd({ numbers, to }: Pick<ChangeFacts, 'numbers' | 'to'>): string | null {
  if (isOpen(to) || numbers.every(({ status }) => status === to)) return null;
  return (['completed', 'failed', 'canceled'] as const)
    .map((end) => ({ end, many: numbers.filter(({ status }) => status === end).length }))
    .filter(({ many }) => many > 0)
    .map(({ end, many }) => `${many} ${end}`)
    .join(', ');
}

function count(numbers: number): string {
  return counted(numbers, 'number');
}

/** Values come from a customer; a line break in one must not forge a line of the mail. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}
