/** The SIP messages of a call, from and to each peer; one click opens the text of a message. */
import { useSignal } from '@preact/signals';
import { offset } from '../../parts/format.ts';
import { Empty } from '../../parts/pieces.tsx';
import { texts } from '../../text/texts.ts';
import type { Ladder, LadderRow } from './messages.ts';
import { type Axis, lastBegun } from './times.ts';

const words = texts.call.ladder;

interface SipLadderProps {
  readonly ladder: Ladder;
  readonly truncated: boolean;
  readonly axis: Axis;
}

export function SipLadder({ ladder: { peers, rows }, truncated, axis }: SipLadderProps) {
  const opened = useSignal<number | null>(null);
  if (rows.length === 0) return <Empty title={words.empty}>{words.emptyNext}</Empty>;
  const pointed = axis.pointed.value;
  const current =
    pointed === null
      ? -1
      : lastBegun(
          rows.map(({ atMs }) => atMs),
          pointed,
        );
  return (
    <div class="ladder">
      <p class="ladder-ends">
        <span>{words.us}</span>
        {peers.map(({ address, product }) => (
          <span key={address} title={product ?? undefined}>
            {address}
            {product && <small class="quiet"> {product}</small>}
          </span>
        ))}
      </p>
      <ol>
        {rows.map((row, index) => (
          <Rung
            key={row.seq}
            row={row}
            peers={peers}
            current={index === current}
            open={opened.value === row.seq}
            toggle={() => {
              opened.value = opened.value === row.seq ? null : row.seq;
            }}
            point={() => {
              axis.pointed.value = row.atMs;
            }}
          />
        ))}
      </ol>
      {truncated && <p class="note warn">{words.truncated}</p>}
    </div>
  );
}

interface RungProps {
  readonly row: LadderRow;
  readonly peers: Ladder['peers'];
  readonly current: boolean;
  readonly open: boolean;
  readonly toggle: () => void;
  readonly point: () => void;
}

function Rung({ row, peers, current, open, toggle, point }: RungProps) {
  const peer = peers[row.peer]?.address ?? '';
  return (
    <li id={`sip-${row.seq}`} class={current ? 'current' : undefined}>
      <button
        type="button"
        class={`rung ${row.kind}`}
        aria-expanded={open}
        onClick={toggle}
        onFocus={point}
        onPointerEnter={point}
      >
        <span class="rung-time">{offset(row.atMs)}</span>
        <span class="rung-lines">
          {peers.map(({ address }, index) => (
            <i key={address} style={{ left: `${((index + 1) / peers.length) * 100}%` }} />
          ))}
          <span
            class={row.sent ? 'arrow sent' : 'arrow received'}
            style={{ width: `${((row.peer + 1) / peers.length) * 100}%` }}
          >
            <span>
              {row.title}
              {row.answers && <small> {row.answers}</small>}
              {row.hasSdp && <small> SDP</small>}
              <span class="unseen">{words.between(row.sent ? words.sent : words.received, peer)}</span>
            </span>
          </span>
        </span>
      </button>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
        <section class="raw" tabIndex={0} aria-label={words.raw}>
          <pre>{row.raw}</pre>
        </section>
      )}
    </li>
  );
}
