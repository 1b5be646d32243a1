/** Whether the version that is shown may be published, what keeps it from that, and the way there. */
import { pathways } from '../../text/pathways.ts';
import { GateOf } from '../quality/gate.tsx';

const words = pathways.publish;

interface PublishProps {
  readonly pathway: string;
  /** 0: the draft */
  readonly version: number;
  readonly unsaved: boolean;
  /** Something was published. */
  readonly changed: () => void;
}

export function Publish({ pathway, version, unsaved, changed }: PublishProps) {
  return (
    <section class="card" aria-labelledby="publish-title">
      <h2 id="publish-title">{words.title}</h2>
      {version === 0 ? (
        <p class="quiet">{words.draft}</p>
      ) : (
        <>
          {unsaved && <p>{words.unsaved(version)}</p>}
          <GateOf pathway={pathway} version={version} changed={changed} />
        </>
      )}
    </section>
  );
}
