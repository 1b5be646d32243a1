/** A screen whose code is fetched when it is first shown, so that the first screen stays small. */
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { reachable } from '../api/client.ts';
import { noAnswer } from '../api/problem.ts';
import { healed } from '../connection.ts';
import { Loading, ProblemNote } from '../parts/pieces.tsx';

interface LaterProps {
  readonly load: () => Promise<ComponentType<{ readonly id: string }>>;
  readonly id?: string;
}

export function Later({ load, id = '' }: LaterProps) {
  const found = useSignal<{ readonly screen: ComponentType<{ readonly id: string }> } | null>(null);
  const failed = useSignal(false);
  useEffect(() => {
    let gone = false;
    load().then(
      (screen) => {
        if (!gone) found.value = { screen };
      },
      () => {
        if (gone) return;
        failed.value = true;
        // Either the files are gone, or nothing answers: then the screen is fetched when that is over.
        void fetch('/health/live').catch(() => {
          reachable.value = false;
        });
      },
    );
    return () => {
      gone = true;
    };
  }, [healed.value]);
  if (found.value) {
    const { screen: Found } = found.value;
    return <Found id={id} />;
  }
  // After an upgrade the files of this page are gone; the new page has others.
  if (failed.value) return <ProblemNote problem={noAnswer} again={() => window.location.reload()} />;
  return <Loading />;
}
