/** Pure forms of what the screens of widgets show. */

/** The line that shows a widget on a page. @param origin of control, as the browser reaches it @param voice with calls */
export function embedCode(origin: string, id: string, voice: boolean): string {
  return `<script src="${origin}/widget/${id}/embed.js" async${voice ? ' data-voice' : ''}></script>`;
}

export type ThreadState = 'ended' | 'person' | 'agent';

export function stateOf(thread: {
  readonly ended_at: string | null;
  readonly live_agent_handoff_at: string | null;
}): ThreadState {
  if (thread.ended_at !== null) return 'ended';
  return thread.live_agent_handoff_at === null ? 'agent' : 'person';
}
