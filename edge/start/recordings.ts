/** Recordings with the settings of this edge: which calls, in which folder, and how they get to control. */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { newTimedId } from '#shared/ids.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import { wrapKey } from '#shared/recording/keys.ts';
import type { RecordedCall, Recordings } from '../call/ports/recordings.ts';
import { DiskRoom } from '../media/recording/disk-room.ts';
import { RecordingUploads } from '../reporting/recordings/uploads.ts';
import { clock, type EdgeContext } from './context.ts';
import { type RecordingPlace, rangesOf } from './shard-settings.ts';
import { spokenIn, spokenRate } from './spoken.ts';

/** Time for the text-to-speech to make an announcement, ms; after it a tone is played. */
const announcementMs = 5_000;

export function recordingPlace(context: EdgeContext): RecordingPlace {
  const { settings, limits, metrics } = context;
  const { shards } = rangesOf(context, availableParallelism());
  // The last one writes calls of tests.
  const room = new DiskRoom(limits.recordings.mostBytes, DiskRoom.countsOf(shards.length + 1));
  metrics.gauge('trunkline_edge_recordings_bytes', () => room.usedBytes);
  // Control may share the data folder, and has what it keeps in `recordings`.
  return { folder: join(settings.dataDir, 'recordings-waiting'), room };
}

export function uploadsOf(
  { log, metrics, controlUrl, edgeToken }: EdgeContext,
  { folder, room }: RecordingPlace,
): RecordingUploads {
  return new RecordingUploads({
    folder,
    room,
    controlUrl,
    edgeToken,
    clock,
    log,
    count: (outcome) => metrics.count('trunkline_edge_recordings_sent_total', { outcome }),
  });
}

export function recordingsOf({ log, metrics, current }: EdgeContext, tts: TextToSpeech): Recordings {
  const spoken = (text: string, { agent }: RecordedCall): Promise<Int16Array> =>
    spokenIn(announcementMs, tts, text, agent).catch((error: unknown) => {
      log.warn({ err: error }, 'an announcement of a recording could not be spoken; a tone is played');
      return tone();
    });
  return {
    count: (outcome) => metrics.count('trunkline_edge_recordings_total', { outcome }),
    order: (call) => {
      const of = current.organization(call.orgId)?.recording;
      const choice = call.agent?.recording ?? of?.choice;
      if (!of || choice?.mode !== 'audio') return null;
      const { announcement, announcement_text: text, pause_key: pauseKey } = choice;
      const id = newTimedId(clock.now());
      const dataKey = randomBytes(32);
      const header = {
        version: 1,
        id,
        call_id: call.callId,
        org_id: call.orgId,
        started_at: new Date(clock.now()).toISOString(),
        key: wrapKey(dataKey, of, id),
      } as const;
      const order = { header, dataKey, pauseKey };
      if (announcement === 'spoken' && text)
        return spoken(text, call).then((pcm) => ({ ...order, announcement: pcm }));
      return Promise.resolve({ ...order, announcement: announcement === 'tone' ? tone() : null });
    },
  };
}

/** Half a second of 1400 Hz, at a quarter of full scale. */
function tone(): Int16Array {
  return Int16Array.from({ length: spokenRate / 2 }, (_, i) =>
    Math.round(8_191 * Math.sin((2 * Math.PI * 1_400 * i) / spokenRate)),
  );
}
