/** Every kind of fact that a conversation can note, at least once. */
import type { LogFact, Why } from '#shared/agent/log-facts.ts';

const whys: { readonly [K in Why['kind']]: Extract<Why, { kind: K }> } = {
  keys: { kind: 'keys', keys: '12' },
  chosen: { kind: 'chosen', reason: 'the caller wants it' },
  only_keyless_option: { kind: 'only_keyless_option' },
  entry_complete: { kind: 'entry_complete' },
  no_option: { kind: 'no_option', words: 'my tooth hurts', reason: 'no option is about teeth' },
  no_keys: { kind: 'no_keys', keys: '7' },
  invalid_entry: { kind: 'invalid_entry', keys: '9' },
  silence: { kind: 'silence' },
  condition: { kind: 'condition', condition: 'plan = gold', reason: 'plan is "silver"' },
  keys_sent: { kind: 'keys_sent' },
  webhook: { kind: 'webhook', ok: false },
  tool_failed: { kind: 'tool_failed' },
  transfer_failed: { kind: 'transfer_failed', reason: 'busy' },
  pathway_unavailable: { kind: 'pathway_unavailable' },
  handed_back: { kind: 'handed_back' },
  realtime_failed: { kind: 'realtime_failed', reason: 'the server answered 401' },
};
const everyWhy: readonly Why[] = Object.values(whys);

const facts: { readonly [K in LogFact['kind']]: readonly Extract<LogFact, { kind: K }>[] } = {
  option_taken: everyWhy.map((why) => ({
    kind: 'option_taken',
    label: 'default',
    why,
    keys: 'keys' in why ? why.keys : null,
  })),
  node_repeated: everyWhy.map((why) => ({ kind: 'node_repeated', node: 'Greeting', why })),
  replied: [{ kind: 'replied', reason: 'a question came first' }],
  node_resumed: [{ kind: 'node_resumed', node: 'Greeting' }],
  variable_learned: [{ kind: 'variable_learned', name: 'day', value: 'Monday' }],
  variable_built_in: [{ kind: 'variable_built_in', name: 'now' }],
  speech_generated: [{ kind: 'speech_generated', note: 'no language model is configured' }],
  tool_unknown: [{ kind: 'tool_unknown', tool_id: 'TL-1' }],
  tool_succeeded: [{ kind: 'tool_succeeded' }],
  tool_failed: [
    { kind: 'tool_failed', error: 'the target answered 500' },
    { kind: 'tool_failed', error: null },
  ],
  webhook_answered: [
    { kind: 'webhook_answered', ok: true, answer: '200' },
    { kind: 'webhook_answered', ok: false, answer: '503' },
  ],
  pathway_unavailable: [{ kind: 'pathway_unavailable', pathway_id: 'p', version: 3 }],
  realtime_simulated: [{ kind: 'realtime_simulated', connection: 'main' }],
  realtime_begun: [{ kind: 'realtime_begun', connection: 'main' }],
  realtime_failed: [{ kind: 'realtime_failed', reason: 'the server answered 401' }],
  transfer_ended: [
    { kind: 'transfer_ended', ok: true, reason: 'to +14155550123', target: '+14155550123' },
    { kind: 'transfer_ended', ok: false, reason: 'busy', target: null },
  ],
  end_node_reached: [{ kind: 'end_node_reached' }],
  call_transferred: [{ kind: 'call_transferred' }],
  dead_end: [
    { kind: 'dead_end', after: 'silence' },
    { kind: 'dead_end', after: 'webhook' },
  ],
  repeats_unanswered: everyWhy.map((why) => ({ kind: 'repeats_unanswered', why, repeats: 2 })),
  graph_loop: [{ kind: 'graph_loop', moves: 50 }],
  no_fallback: [{ kind: 'no_fallback', why: whys.pathway_unavailable }],
  no_model: [{ kind: 'no_model' }],
  model_failed: [{ kind: 'model_failed', error: 'the model did not answer' }],
  tool_call_rejected: [{ kind: 'tool_call_rejected', reason: 'there is no tool named "x"' }],
  tool_call_limit: [{ kind: 'tool_call_limit', rounds: 3 }],
  persona_tool_ended: [
    { kind: 'persona_tool_ended', tool: 'find', ok: true, error: null },
    { kind: 'persona_tool_ended', tool: 'find', ok: false, error: 'the target answered 500' },
  ],
  transfer_started: [{ kind: 'transfer_started', name: 'billing' }],
  start_node_unknown: [{ kind: 'start_node_unknown', pathway_id: 'p', version: 3, node: 'n' }],
  pathway_entered: [{ kind: 'pathway_entered', name: 'booking' }],
  questions_unanswered: [{ kind: 'questions_unanswered', questions: 2 }],
  agent_ended: [{ kind: 'agent_ended' }],
};
export const everyFact: readonly LogFact[] = Object.values(facts).flat();
