/** Text to take elsewhere, with a button that copies it. */
import { useSignal } from '@preact/signals';
import { texts } from '../text/texts.ts';

interface CopyButtonProps {
  /** Asked for when it is copied. */
  readonly text: () => string;
  readonly label?: string;
  readonly done?: string;
}

export function CopyButton({ text, label = texts.copy, done = texts.copied }: CopyButtonProps) {
  const copied = useSignal(false);
  return (
    <>
      <button
        type="button"
        onClick={async () => {
          await navigator.clipboard.writeText(text());
          copied.value = true;
        }}
      >
        {label}
      </button>
      <span role="status" class="quiet">
        {copied.value && done}
      </span>
    </>
  );
}

export function CopiedText({ text, name }: { text: string; name: string }) {
  return (
    <div class="copied">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <section aria-label={name} tabIndex={0}>
        <pre>{text}</pre>
      </section>
      <p class="row">
        <CopyButton text={() => text} />
      </p>
    </div>
  );
}
