/** The fields of nodes that the form has, by the type of the node (contract 11.1). */
import { type NodeType, recordingSteps, variableTypes } from '#shared/agent/graph-node.ts';
import { expectations, pauseRange } from '#shared/agent/turn-plan.ts';
import type { Path } from '../graph/graph.ts';

/** Ids that a field is chosen from. */
export type Source = 'nodes' | 'pathways' | 'tools';

export type Cell =
  | { readonly path: Path; readonly head: string; readonly kind: 'line' }
  | { readonly path: Path; readonly head: string; readonly kind: 'choice'; readonly of: readonly string[] }
  | { readonly path: Path; readonly head: string; readonly kind: 'id'; readonly of: Source };

export type FieldKind =
  | { readonly kind: 'line' | 'text' | 'flag' | 'json' }
  | { readonly kind: 'number'; readonly min?: number; readonly max?: number; readonly step?: number }
  | { readonly kind: 'choice'; readonly of: readonly string[] }
  | { readonly kind: 'id'; readonly of: Source }
  /** A list; a new member is `blank`. */
  | { readonly kind: 'rows'; readonly cells: readonly Cell[]; readonly blank: unknown };

/** `path` in `data`; its name in texts is the path with dots. */
export type Field = FieldKind & { readonly path: readonly string[] };

const line = (...path: string[]): Field => ({ path, kind: 'line' });
const text = (...path: string[]): Field => ({ path, kind: 'text' });
const flag = (...path: string[]): Field => ({ path, kind: 'flag' });
const json = (...path: string[]): Field => ({ path, kind: 'json' });
const number = (path: string[], min: number, max: number, step = 1): Field => ({
  path,
  kind: 'number',
  min,
  max,
  step,
});
const choice = (path: string[], of: readonly string[]): Field => ({ path, kind: 'choice', of });

const tools: Field = {
  path: ['tools'],
  kind: 'rows',
  cells: [{ path: [], head: 'tool', kind: 'id', of: 'tools' }],
  blank: '',
};
const toolCalls = json('toolCalls');

export const speaks: readonly Field[] = [line('name'), text('text'), text('prompt')];

export const leaves: readonly Field[] = [
  text('condition'),
  {
    path: ['extractVars'],
    kind: 'rows',
    cells: [
      { path: [0], head: 'name', kind: 'line' },
      { path: [1], head: 'type', kind: 'choice', of: variableTypes },
      { path: [2], head: 'description', kind: 'line' },
    ],
    blank: ['', 'string', ''],
  },
];

export const more: readonly Field[] = [
  flag('isGlobal'),
  line('globalLabel'),
  line('modelOptions', 'modelName'),
  number(['modelOptions', 'temperature'], 0, 2, 0.1),
  number(['modelOptions', 'interruptionThreshold'], 0, 10_000),
  number(['dtmf', 'maxDigits'], 1, 64),
  line('dtmf', 'terminator'),
  number(['dtmf', 'timeoutMs'], 100, 60_000),
  choice(['endOfTurn', 'expects'], expectations),
  number(['endOfTurn', 'pauseMs'], pauseRange[0], pauseRange[1]),
  flag('sayDigits'),
  choice(['recording'], recordingSteps),
];

export const ofType: Readonly<Record<NodeType, readonly Field[]>> = {
  Default: [tools, toolCalls],
  'Wait for Response': [],
  'Knowledge Base': [text('kb')],
  Realtime: [line('connection'), line('voice'), tools],
  Webhook: [
    line('url'),
    choice(['method'], ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    json('headers'),
    json('body'),
    number(['timeoutValue'], 1, 60),
    {
      path: ['responseData'],
      kind: 'rows',
      cells: [
        { path: ['name'], head: 'name', kind: 'line' },
        { path: ['data'], head: 'data', kind: 'line' },
        { path: ['context'], head: 'description', kind: 'line' },
      ],
      blank: { name: '', data: '', context: '' },
    },
    {
      path: ['responsePathways'],
      kind: 'rows',
      cells: [
        { path: [0], head: 'key', kind: 'line' },
        {
          path: [1],
          head: 'operator',
          kind: 'choice',
          of: ['==', '!=', '>', '>=', '<', '<=', 'contains', 'not contains'],
        },
        { path: [2], head: 'value', kind: 'line' },
        { path: [3, 'id'], head: 'node', kind: 'id', of: 'nodes' },
      ],
      blank: ['', '==', '', {}],
    },
    text('filler', 'text'),
    number(['filler', 'afterMs'], 0, 30_000),
  ],
  'Press Button': [line('digits')],
  'Transfer Call': [
    line('transferNumber'),
    choice(['transferMethod'], ['bridge', 'refer']),
    text('transferAnnouncement'),
    line('transferAcceptKey'),
  ],
  'Transfer Pathway': [
    { path: ['transferPathwayId'], kind: 'id', of: 'pathways' },
    line('transferPathwayVersion'),
  ],
  'End Call': [],
};
