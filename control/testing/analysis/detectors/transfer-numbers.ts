/** Transfers to the wrong number, or to none. The right one comes from an assertion or from the author's own words. */
import type { GraphNode } from '#shared/agent/graph-node.ts';
import { asText } from '#shared/agent/template.ts';
import { type FailedCase, type TestedGraph, unmetAssertions } from '../case.ts';
import type { Finding } from '../finding.ts';

interface Transfer {
  readonly node: GraphNode;
  /** As dialed; empty: none. */
  readonly called: string;
  /** Set when it failed. */
  readonly failure: string | null;
}

export function transferNumbers(failed: FailedCase): Finding[] {
  const { tested } = failed;
  if (!tested) return [];
  return transfers(failed, tested).flatMap((transfer) => findingFor(failed, tested, transfer) ?? []);
}

function transfers({ facts }: FailedCase, { graph }: TestedGraph): Transfer[] {
  return facts.flatMap(({ node_id, fact }) => {
    const node = node_id === null ? undefined : graph.nodes.get(node_id);
    if (node?.type !== 'Transfer Call' || fact.kind !== 'transfer_ended') return [];
    const called = fact.target ?? asText(node.data.transferNumber).trim();
    return [{ node, called, failure: fact.ok ? null : fact.reason }];
  });
}

/** E.164 numbers in a text, in any grouping; patterns have them with backslashes. */
function numbersIn(text: string): string[] {
  const found = text.replaceAll('\\', '').match(/\+\d(?:[\s().-]{0,2}\d){6,14}/g) ?? [];
  return [...new Set(found.map((number) => `+${number.replaceAll(/\D/g, '')}`))];
}

/** Numbers in failed assertions. */
function wantedNumbers(failed: FailedCase): string[] {
  const texts = unmetAssertions(failed).map(({ assertion }) => JSON.stringify(assertion.config));
  return [...new Set(texts.flatMap(numbersIn))];
}

/** Numbers that the author wrote besides the dialed one. */
function writtenNumbers({ node }: Transfer): string[] {
  const { transferNumber: _, ...others } = node.data;
  return numbersIn(Object.values(others).map(asText).join('\n'));
}

function findingFor(failed: FailedCase, { raw }: TestedGraph, transfer: Transfer): Finding | null {
  const { node, called, failure } = transfer;
  const template = /\{\{/.test(asText(node.data.transferNumber));
  const [asked, ...othersAsked] = wantedNumbers(failed).filter((number) => number !== called);
  const [written, ...othersWritten] = writtenNumbers(transfer).filter((number) => number !== called);
  const valid = /^\+[1-9]\d{6,14}$/.test(called) || /^sips?:/i.test(called);
  const right = asked !== undefined && othersAsked.length === 0 ? asked : undefined;
  const likely = written !== undefined && othersWritten.length === 0 ? written : undefined;
  if (right === undefined && valid && failure === null && likely === undefined) return null;
  const number = right ?? likely;
  const went = called === '' ? 'to nobody' : `to ${called}`;
  const description = `“${node.name}” transferred the call ${went}${failure === null ? '' : `, and that failed: ${failure}`}.`;
  const common = { cause: 'data', type: 'node_config', nodeId: node.id, description } as const;
  if (number === undefined || template) {
    const suggestedChange = template
      ? `Make sure that the variables in transferNumber of “${node.name}” are known before the node is reached.`
      : `Set transferNumber of “${node.name}” to a number in E.164 form, such as +14155550100.`;
    return { ...common, suggestedChange, confidence: valid ? 0.4 : 0.8, edit: null };
  }
  const elsewhere = raw.nodes.filter(({ data }) => JSON.stringify(data ?? null).includes(number)).length;
  const known = elsewhere > 0 ? ', a number from the pathway’s own text' : '';
  return {
    ...common,
    suggestedChange: `Set transferNumber of “${node.name}” to ${number}${known}.`,
    confidence: right !== undefined ? 0.9 : valid ? 0.6 : 0.75,
    edit: { kind: 'set_transfer_number', node: node.id, number },
  };
}
