/** What differs between two graphs, place by place. */
import { Badge, type Tone } from '../../parts/pieces.tsx';
import { quality } from '../../text/quality.ts';

export interface Difference {
  readonly op: 'added' | 'removed' | 'changed';
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

const words = quality.diff;
const tones: Readonly<Record<Difference['op'], Tone>> = { added: 'good', removed: 'bad', changed: 'warn' };

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

export function Differences({ of }: { readonly of: readonly Difference[] }) {
  return (
    <ul class="differences">
      {of.map(({ after, before, op, path }) => (
        <li key={path}>
          <p class="row">
            <Badge tone={tones[op]}>{words.ops[op]}</Badge> <code>{path}</code>
          </p>
          {op !== 'added' && (
            <del>
              <span class="unseen">{words.before}: </span>
              {shown(before)}
            </del>
          )}
          {op !== 'removed' && (
            <ins>
              <span class="unseen">{words.after}: </span>
              {shown(after)}
            </ins>
          )}
        </li>
      ))}
    </ul>
  );
}
