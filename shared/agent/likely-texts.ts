/** The fixed texts that may be said next: they can be spoken before they are needed. */
import type { SpokenText } from './conversation.ts';
import type { Position } from './position.ts';

/** Texts of a step, and characters of one: what is made may not be needed. */
const mostTexts = 4;
const longestText = 500;

/** Of the nodes behind the current node's own edges, in the author's order. */
export function likelyTexts({ graph, node }: Pick<Position, 'graph' | 'node'>): SpokenText[] {
  const { pronunciations, nodes, edgesFrom } = graph;
  const texts = new Map<string, SpokenText>();
  for (const { target } of edgesFrom.get(node.id) ?? []) {
    const next = nodes.get(target);
    if (!next || silent.has(next.type)) continue;
    const { text, sayDigits } = next;
    // A text with variables is another in each call.
    if (text.trim() === '' || text.includes('{{') || text.length > longestText) continue;
    texts.set(text.trim(), {
      text: text.trim(),
      ...(pronunciations.length > 0 && { pronunciations }),
      ...(sayDigits && { sayDigits }),
    });
    if (texts.size >= mostTexts) break;
  }
  return [...texts.values()];
}

/** Nodes that say nothing themselves. */
const silent: ReadonlySet<string> = new Set(['Wait for Response', 'Realtime']);
