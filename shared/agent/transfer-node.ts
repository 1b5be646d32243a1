/** The transfer order of a Transfer Call node (contract 11.1), with its templates filled in. */
import type { JsonObject } from './graph-problem.ts';
import type { Variables } from './interfaces.ts';
import { asText, fillTarget, fillTemplate } from './template.ts';

export interface NodeTransfer {
  /** Empty when the node, or its variables, name no target. */
  readonly target: string;
  readonly method: 'bridge' | 'refer';
  readonly announcement: string | null;
  readonly acceptKey: string | null;
}

/** `0`..`9`, `*` or `#` */
export const acceptKeyForm = /^[0-9*#]$/;

/** `transferAnnouncement` and `transferAcceptKey` make it a warm transfer; an invalid key is ignored. */
export function transferOrder(node: { readonly data: JsonObject }, variables: Variables): NodeTransfer {
  const { transferNumber, transferMethod, transferAnnouncement, transferAcceptKey } = node.data;
  const announcement = fillTemplate(asText(transferAnnouncement), variables).trim();
  const key = asText(transferAcceptKey).trim();
  return {
    target: fillTarget(asText(transferNumber), variables).trim(),
    method: transferMethod === 'refer' ? 'refer' : 'bridge',
    announcement: announcement === '' ? null : announcement,
    acceptKey: acceptKeyForm.test(key) ? key : null,
  };
}

/** The pathway in which a Transfer Pathway node continues; version 0: it names none. */
export function pathwayOrder({ data }: { readonly data: JsonObject }): {
  readonly id: string;
  readonly version: number;
} {
  const version = Number(data.transferPathwayVersion ?? 0);
  return { id: asText(data.transferPathwayId), version: Number.isInteger(version) ? version : 0 };
}
