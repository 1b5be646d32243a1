/**
 * Prohibitions that hold only because nothing was there that could break them: nobody spoke, or the agent has no node,
 * tool or variable of that name, which is most often a name that is misspelt or was changed. Such a pass says nothing.
 */
import { counted } from '#shared/counted.ts';
import type { AgentPart, ConversationRecord, CouldHave } from '../ports.ts';
import type { TypedAssertion } from './outcome.ts';

/** Of an assertion that passed: why that has no basis; null: it has, or the assertion forbids nothing. */
export async function withoutBasis(
  assertion: TypedAssertion,
  record: ConversationRecord,
  couldHave: CouldHave | undefined,
): Promise<string | null> {
  const silent = nothingSaid(assertion, record);
  if (silent !== null || !couldHave) return silent;
  const [part, names] = forbidden(assertion);
  const missing: string[] = [];
  for (const name of new Set(names)) if (!(await couldHave(part, name))) missing.push(name);
  const [first] = missing;
  if (first === undefined) return null;
  const others = missing.length > 1 ? ` and ${counted(missing.length - 1, 'other')}` : '';
  return `The agent has no ${part} "${first}"${others}, so this could not happen. Correct the name, or remove the assertion.`;
}

function nothingSaid({ type, config }: TypedAssertion, record: ConversationRecord): string | null {
  if (type !== 'STRING_CHECK' && type !== 'REGEX_MATCH') return null;
  const { negate = false, not = false, target = 'transcript' } = config;
  const role = { agent: 'assistant', user: 'user', transcript: null }[target];
  if (negate === not || role === undefined) return null;
  const said = record.chat_history.some((line) => role === null || line.role === role);
  return said ? null : `Nothing was said (${target}), so nothing could be said that should not be.`;
}

/** What must not happen, by name; nothing when the assertion wants that something happens. */
function forbidden({ type, config }: TypedAssertion): readonly [AgentPart, readonly string[]] {
  const { not = false } = config;
  if (type === 'TOOL_CALLED') return ['tool', not !== (config.max_calls === 0) ? [config.name] : []];
  if (!not) return ['node', []];
  switch (type) {
    case 'NODE_REACHED':
      return ['node', [config.node_id]];
    case 'NODES_VISITED':
      return ['node', config.node_ids];
    case 'TRAVERSAL_MATCH':
      return ['node', config.reference_path];
    case 'WEBHOOK_TRIGGERED':
      return ['node', config.node_id === undefined ? [] : [config.node_id]];
    case 'VARIABLE_EXTRACTED':
      return ['variable', [config.variable_name]];
    default:
      return ['node', []];
  }
}
