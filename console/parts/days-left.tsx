/** How long a certificate is still valid. */
import { texts } from '../text/texts.ts';
import { completeTime, daysUntil } from './format.ts';
import { Badge } from './pieces.tsx';

/** As the alert of trunks. */
const soonDays = 14;

export function DaysLeft({ expires }: { /** ISO */ expires: string }) {
  const days = daysUntil(expires);
  return (
    <span title={completeTime(expires)}>
      <Badge tone={days < 0 ? 'bad' : days < soonDays ? 'warn' : 'good'}>
        {days < 0 ? texts.certificates.expired : texts.certificates.left(days)}
      </Badge>
    </span>
  );
}
