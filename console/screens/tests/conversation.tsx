/** What was said in a run, with the words that verdicts quote marked. */
import { tests } from '../../text/tests.ts';
import type { Run } from './pieces.tsx';
import { partsOf } from './quotes.ts';

const words = tests.run;

/** Of the line with this index, for links to it. @param side tells two runs on one page apart */
export function lineId(side: string, index: number): string {
  return `line-${side}-${index}`;
}

interface ConversationProps {
  readonly run: Run;
  readonly side: string;
  readonly nodeName: NodeName;
}

export type NodeName = (id: string) => string;

export function Conversation({ run, side, nodeName }: ConversationProps) {
  const { chat_history: lines, assertion_results: verdicts } = run;
  if (lines.length === 0)
    return <p class="quiet">{run.record_deleted_at === null ? words.silent : words.gone}</p>;
  const nameOf = (place: number) => verdicts[place]?.name ?? verdicts[place]?.type ?? '';
  return (
    <ol class="lines">
      {lines.map((line, index) => {
        const quotes = verdicts.flatMap(({ evidence }, by) =>
          evidence.filter(({ turn }) => turn === index).map(({ quote }) => ({ quote, by })),
        );
        return (
          <li key={index} id={lineId(side, index)} tabIndex={-1} class={line.role}>
            <span class="who">{words.who[line.role]}</span>
            <span class="said">
              {partsOf(line.content, quotes).map((part, at) =>
                part.by.length === 0 ? (
                  part.text
                ) : (
                  <mark
                    key={at}
                    class={part.by.every((by) => verdicts[by]?.passed) ? 'good' : 'bad'}
                    title={`${words.says}: ${part.by.map(nameOf).join(', ')}`}
                  >
                    {part.text}
                  </mark>
                ),
              )}
              <small class="quiet">
                {' '}
                {words.turn(line.turn)}
                {line.node_id !== null && ` · ${nodeName(line.node_id)}`}
              </small>
            </span>
          </li>
        );
      })}
    </ol>
  );
}
